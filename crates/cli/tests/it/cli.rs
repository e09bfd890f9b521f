//! The program as people and scripts run it.

mod again;
mod agent_q;
mod call;
mod claude;
mod config;
#[cfg(unix)]
mod consent;
#[cfg(unix)]
mod doctor;
mod edit;
mod face;
#[cfg(unix)]
mod forge;
mod forget;
mod history;
#[cfg(unix)]
mod install;
mod lines;
mod memory;
mod mode;
mod names;
#[cfg(unix)]
mod newcomer;
mod nexus3;
mod other_roots;
mod patch;
#[cfg(unix)]
mod paths;
mod phoenix;
mod protected;
mod read;
mod review;
mod rig;
mod schemas;
#[cfg(unix)]
mod screen;
mod selection;
#[cfg(unix)]
mod setup;
#[cfg(unix)]
mod snapshot;
mod stats;
#[cfg(unix)]
mod terminal;
mod tools;
#[cfg(unix)]
mod watch;
mod write;
