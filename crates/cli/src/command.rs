//! The command line: the top-level parser, and the subcommands with one file each.

mod append;
mod call;
mod completions;
mod config;
mod delete;
mod dialect_name;
mod doctor;
mod edit;
mod forget;
mod gc;
mod help;
mod info;
mod lines;
mod log;
mod man;
mod mcp;
mod mode;
mod patch;
mod read;
mod redo;
mod rename;
mod review;
mod schema;
mod sessions;
mod show;
mod stats;
mod tools;
mod undo;
mod uninstall;
mod write;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::global::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch edit src/main.rs --old 'retries = 3' --new 'retries = 5'
  slipstitch lines notes.txt 4-6 --new 'one line instead of three'
  slipstitch patch changes.diff
  slipstitch log --since 2h
  slipstitch undo
  slipstitch review
  slipstitch call edit_file '{\"path\": \"a.txt\", \"old_text\": \"x\", \"new_text\": \"y\"}'

Exit codes:
  0  done, or nothing to do
  1  refused: no match, several matches, stale file, …
  2  bad request: usage, paths, JSON, settings
  3  I/O, journal or internal failure
  4  the change was made, but its output could not be written

Run `slipstitch COMMAND --help` for examples of each command, and `slipstitch help TOPIC` for
recovery, patches, settings, selection, json or state.";

const PROGRAM: &str = "slipstitch";

/// Edit files in the right place or not at all, and undo any edit.
#[derive(Debug, Parser)]
#[command(name = PROGRAM, version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The parser, whose help fits any width.
pub(crate) fn parser() -> clap::Command {
    reflow_help(Cli::command())
}

/// Parses a command line that names a command or asks for the version, without building the parsers of other commands, which
/// took a quarter of a short command and most of `--version`. `None` if parsing fails or help is requested; the full parser then
/// handles it.
pub(crate) fn parse_named(arguments: &[OsString]) -> Option<Result<Cli, clap::Error>> {
    // A value such as that of `--session` may have the same name. Then the command itself is unknown here.
    let named = |word: &OsString| COMMANDS.iter().find(|(name, _)| word == name);
    let global = Global::augment_args(clap::Command::new(PROGRAM));
    let Some((name, augment)) = arguments.iter().skip(1).find_map(named) else {
        let parser = global.version(env!("CARGO_PKG_VERSION"));
        let error = parser.try_get_matches_from(arguments).err()?;
        return (error.kind() == ErrorKind::DisplayVersion).then_some(Err(error));
    };
    let parser = global.disable_help_subcommand(true).subcommand(augment(clap::Command::new(*name)));
    let mut matches = parser.try_get_matches_from(arguments).ok()?;
    Cli::from_arg_matches_mut(&mut matches).ok().map(Ok)
}

/// Adds the arguments of a command to its parser.
type AddArguments = fn(clap::Command) -> clap::Command;

/// The commands by name. A test compares them with [`Command`].
const COMMANDS: &[(&str, AddArguments)] = &[
    ("edit", edit::Edit::augment_args),
    ("lines", lines::Lines::augment_args),
    ("write", write::Write::augment_args),
    ("append", append::Append::augment_args),
    ("delete", delete::Delete::augment_args),
    ("move", rename::Move::augment_args),
    ("patch", patch::Patch::augment_args),
    ("read", read::Read::augment_args),
    ("info", info::Info::augment_args),
    ("call", call::Call::augment_args),
    ("tools", tools::Tools::augment_args),
    ("log", log::Log::augment_args),
    ("show", show::Show::augment_args),
    ("sessions", sessions::Sessions::augment_args),
    ("undo", undo::Undo::augment_args),
    ("redo", redo::Redo::augment_args),
    ("forget", forget::Forget::augment_args),
    ("gc", gc::Gc::augment_args),
    ("mode", mode::SetMode::augment_args),
    ("review", review::Review::augment_args),
    ("stats", stats::Stats::augment_args),
    ("mcp", mcp::Mcp::augment_args),
    ("config", config::Config::augment_args),
    ("doctor", doctor::Doctor::augment_args),
    ("completions", completions::Completions::augment_args),
    ("man", man::ManPages::augment_args),
    ("schema", schema::Schema::augment_args),
    ("uninstall", uninstall::UninstallAll::augment_args),
    ("help", help::Help::augment_args),
];

/// Joins the lines of paragraphs below the options, so that they are wrapped at the terminal's width only. Indented lines are
/// examples, and stay as they are.
fn reflow_help(command: clap::Command) -> clap::Command {
    let text = command.get_after_help().map(ToString::to_string);
    let command = match text {
        Some(text) => command.after_help(join_paragraphs(&text)),
        None => command,
    };
    command.mut_subcommands(reflow_help)
}

/// Joins the lines of each paragraph that is not indented.
pub(crate) fn join_paragraphs(text: &str) -> String {
    let mut joined = String::new();
    let mut is_prose = false;
    for line in text.lines() {
        let continues = is_prose && !line.is_empty() && !line.starts_with(' ');
        if !joined.is_empty() {
            joined.push(if continues { ' ' } else { '\n' });
        }
        joined.push_str(line);
        is_prose = !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
    }
    joined
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Edit(edit::Edit),
    Lines(lines::Lines),
    Write(write::Write),
    Append(append::Append),
    Delete(delete::Delete),
    Move(rename::Move),
    Patch(patch::Patch),
    Read(read::Read),
    Info(info::Info),
    Call(call::Call),
    Tools(tools::Tools),
    Log(log::Log),
    Show(show::Show),
    Sessions(sessions::Sessions),
    Undo(undo::Undo),
    Redo(redo::Redo),
    Forget(forget::Forget),
    Gc(gc::Gc),
    Mode(mode::SetMode),
    Review(review::Review),
    Stats(stats::Stats),
    Mcp(mcp::Mcp),
    Config(config::Config),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
    Man(man::ManPages),
    Schema(schema::Schema),
    Uninstall(uninstall::UninstallAll),
    Help(help::Help),
}

impl Command {
    pub(crate) fn run(self, global: &Global) -> CommandResult {
        match self {
            Self::Edit(command) => command.run(global),
            Self::Lines(command) => command.run(global),
            Self::Write(command) => command.run(global),
            Self::Append(command) => command.run(global),
            Self::Delete(command) => command.run(global),
            Self::Move(command) => command.run(global),
            Self::Patch(command) => command.run(global),
            Self::Read(command) => command.run(global),
            Self::Info(command) => command.run(global),
            Self::Call(command) => command.run(global),
            Self::Tools(command) => command.run(global),
            Self::Log(command) => command.run(global),
            Self::Show(command) => command.run(global),
            Self::Sessions(command) => command.run(global),
            Self::Undo(command) => command.run(global),
            Self::Redo(command) => command.run(global),
            Self::Forget(command) => command.run(global),
            Self::Gc(command) => command.run(global),
            Self::Mode(command) => command.run(global),
            Self::Review(command) => command.run(global),
            Self::Stats(command) => command.run(global),
            Self::Mcp(command) => command.run(global),
            Self::Config(command) => command.run(global),
            Self::Doctor(command) => command.run(global),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
            Self::Schema(command) => command.run(),
            Self::Uninstall(command) => command.run(global),
            Self::Help(command) => command.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::{COMMANDS, Cli, join_paragraphs, parse_named, parser};

    #[test]
    fn prose_is_joined_and_examples_are_not() {
        let text = "Examples:\n  one\n  two\n\nSome prose\nthat goes on.\n\nMore:\n  three";
        assert_eq!(
            join_paragraphs(text),
            "Examples:\n  one\n  two\n\nSome prose that goes on.\n\nMore:\n  three"
        );
    }

    #[test]
    fn every_command_can_be_parsed_alone() {
        let whole = Cli::command();
        let names: Vec<&str> = whole.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(names, COMMANDS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (command, (name, augment)) in whole.get_subcommands().zip(COMMANDS) {
            let mut alone = augment(clap::Command::new(*name));
            assert_eq!(command.clone().render_long_help().to_string(), alone.render_long_help().to_string());
        }
    }

    #[test]
    fn a_command_alone_is_parsed_as_by_the_whole_parser() {
        for line in [
            "slipstitch edit a.txt --old x --new y --no-fsync",
            "slipstitch --root r --session log edit a.txt --old x --new y",
            "slipstitch --session edit log",
            "slipstitch --json undo c1",
            "slipstitch mcp --root r",
            "slipstitch mcp install",
            "slipstitch review accept p1 --json",
            "slipstitch read a.txt --lines 1-2",
            "slipstitch help patches",
            "slipstitch edit",
            "slipstitch edit --help",
            "slipstitch --version",
            "slipstitch -V edit",
            "slipstitch frobnicate -V",
            "slipstitch frobnicate edit",
            "slipstitch",
        ] {
            let words: Vec<std::ffi::OsString> = line.split(' ').map(Into::into).collect();
            let whole = Cli::command().try_get_matches_from(&words);
            let whole = whole.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
            match parse_named(&words) {
                Some(Ok(alone)) => {
                    assert_eq!(format!("{alone:?}"), format!("{:?}", whole.unwrap()), "{line}")
                }
                Some(Err(error)) => assert_eq!(error.to_string(), whole.unwrap_err().to_string(), "{line}"),
                None => {
                    let is_ambiguous = line.contains("--session");
                    assert!(whole.is_err() || is_ambiguous, "{line} is parsed twice");
                }
            }
        }
    }

    #[test]
    fn the_version_needs_no_command() {
        for line in ["slipstitch --version", "slipstitch -V", "slipstitch --root r --json -V"] {
            let words: Vec<std::ffi::OsString> = line.split(' ').map(Into::into).collect();
            let error = parse_named(&words).unwrap().unwrap_err();
            assert_eq!(error.to_string(), format!("slipstitch {}\n", env!("CARGO_PKG_VERSION")), "{line}");
        }
    }

    #[test]
    fn the_parser_is_consistent() {
        parser().debug_assert();
    }
}
