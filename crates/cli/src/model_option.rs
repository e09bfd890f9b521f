//! `--model`: which model makes tool calls, for `slipstitch stats`.

use clap::Args;

use crate::environment::env_variable;
use crate::error::CommandError;

#[derive(Debug, Args)]
pub(crate) struct ModelOption {
    /// The model that makes the calls, for `slipstitch stats`, if the client does not say so [env: SLIPSTITCH_MODEL]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

impl ModelOption {
    /// The name from `--model` or the environment.
    pub(crate) fn name(&self) -> Result<Option<String>, CommandError> {
        match &self.model {
            Some(model) => Ok(Some(model.clone())),
            None => env_variable("SLIPSTITCH_MODEL"),
        }
    }
}
