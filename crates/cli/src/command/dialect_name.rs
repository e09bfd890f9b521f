//! The name of a dialect as an argument: help and completions list the known ones.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use slipstitch::dialects::BUILTIN;

/// Accepts any name. An unknown one is reported by the command, in the form that the command's output has.
#[derive(Debug, Clone, Copy)]
pub(super) struct DialectName;

impl TypedValueParser for DialectName {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(BUILTIN.iter().map(|dialect| PossibleValue::new(dialect.name))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_the_dialects_and_other_names_reach_the_command() {
        let arg = || Arg::new("dialect").long("dialect").value_parser(DialectName);
        let mut command = Command::new("test").arg(arg());
        let help = command.render_help().to_string();
        assert!(BUILTIN.iter().all(|dialect| help.contains(dialect.name)), "{help}");
        let parsed = Command::new("test").arg(arg()).get_matches_from(["test", "--dialect", "nope"]);
        assert_eq!(parsed.get_one::<String>("dialect").map(String::as_str), Some("nope"));
    }
}
