use std::path::PathBuf;

use etcetera::BaseStrategy;
use etcetera::base_strategy::Apple;

/// `~/Library/Application Support`.
pub fn state_folder() -> Option<PathBuf> {
    Some(Apple::new().ok()?.data_dir())
}

/// `~/Library/Application Support` as well: `~/Library/Preferences` is for property lists that the system manages.
pub fn config_folder() -> Option<PathBuf> {
    state_folder()
}

/// The folder for settings in the home folder of the account, whatever the environment says.
pub fn account_config_folder() -> Option<PathBuf> {
    Some(crate::unix::process::account_home()?.join("Library/Application Support"))
}
