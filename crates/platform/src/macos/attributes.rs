/// Gives `to` the access list of `from`, or none if `from` has none.
pub use slipstitch_macos_acl::copy_access_list;

pub use crate::not_linux::attributes::*;
