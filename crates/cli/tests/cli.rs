//! The program as people and scripts run it.

#[path = "cli/agent_q.rs"]
mod agent_q;
#[path = "cli/call.rs"]
mod call;
#[path = "cli/claude.rs"]
mod claude;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "cli/edit.rs"]
mod edit;
#[path = "cli/face.rs"]
mod face;
#[path = "cli/forge.rs"]
mod forge;
#[path = "cli/history.rs"]
mod history;
#[path = "cli/install.rs"]
mod install;
#[path = "cli/lines.rs"]
mod lines;
#[path = "cli/memory.rs"]
mod memory;
#[path = "cli/mode.rs"]
mod mode;
#[path = "cli/names.rs"]
mod names;
#[path = "cli/nexus3.rs"]
mod nexus3;
#[path = "cli/patch.rs"]
mod patch;
#[path = "cli/paths.rs"]
mod paths;
#[path = "cli/phoenix.rs"]
mod phoenix;
#[path = "cli/protected.rs"]
mod protected;
#[path = "cli/read.rs"]
mod read;
#[path = "cli/review.rs"]
mod review;
#[path = "cli/rig.rs"]
mod rig;
#[path = "cli/setup.rs"]
mod setup;
#[path = "cli/stats.rs"]
mod stats;
#[path = "cli/tools.rs"]
mod tools;
#[path = "cli/write.rs"]
mod write;
