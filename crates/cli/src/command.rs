//! The subcommands, one file each.

mod append;
mod call;
mod completions;
mod doctor;
mod edit;
mod gc;
mod info;
mod lines;
mod log;
mod mcp;
mod mode;
mod patch;
mod read;
mod redo;
mod review;
mod show;
mod stats;
mod tools;
mod undo;
mod write;

use clap::Subcommand;

use crate::args::Global;
use crate::output::CommandResult;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Edit(edit::Edit),
    Lines(lines::Lines),
    Write(write::Write),
    Append(append::Append),
    Patch(patch::Patch),
    Read(read::Read),
    Info(info::Info),
    Call(call::Call),
    Tools(tools::Tools),
    Log(log::Log),
    Show(show::Show),
    Undo(undo::Undo),
    Redo(redo::Redo),
    Gc(gc::Gc),
    Mode(mode::SetMode),
    Review(review::Review),
    Stats(stats::Stats),
    Mcp(mcp::Mcp),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
}

impl Command {
    pub(crate) fn run(self, global: &Global) -> CommandResult {
        match self {
            Self::Edit(command) => command.run(global),
            Self::Lines(command) => command.run(global),
            Self::Write(command) => command.run(global),
            Self::Append(command) => command.run(global),
            Self::Patch(command) => command.run(global),
            Self::Read(command) => command.run(global),
            Self::Info(command) => command.run(global),
            Self::Call(command) => command.run(global),
            Self::Tools(command) => command.run(global),
            Self::Log(command) => command.run(global),
            Self::Show(command) => command.run(global),
            Self::Undo(command) => command.run(global),
            Self::Redo(command) => command.run(global),
            Self::Gc(command) => command.run(global),
            Self::Mode(command) => command.run(global),
            Self::Review(command) => command.run(global),
            Self::Stats(command) => command.run(global),
            Self::Mcp(command) => command.run(global),
            Self::Doctor(command) => command.run(global),
            Self::Completions(command) => command.run(),
        }
    }
}
