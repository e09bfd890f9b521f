//! The program as people and scripts run it.

mod agent_q;
mod call;
mod claude;
mod doctor;
mod edit;
mod face;
mod forge;
mod forget;
mod history;
mod install;
mod lines;
mod memory;
mod mode;
mod names;
mod nexus3;
mod patch;
mod paths;
mod phoenix;
mod protected;
mod read;
mod review;
mod rig;
mod setup;
mod stats;
mod tools;
mod write;
