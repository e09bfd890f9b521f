//! Environment variables that set options.

use crate::error::CommandError;

/// Reads an environment variable; an empty one counts as unset.
pub(crate) fn env_variable(name: &str) -> Result<Option<String>, CommandError> {
    match std::env::var_os(name).map(|value| value.into_string()) {
        None => Ok(None),
        Some(Ok(value)) => Ok(Some(value).filter(|value| !value.is_empty())),
        Some(Err(value)) => {
            let message =
                format!("the environment variable {name} is `{}`, which is not valid UTF-8", value.display());
            Err(CommandError::usage(message, "Set it to UTF-8 text."))
        }
    }
}
