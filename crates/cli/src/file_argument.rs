//! FILE arguments. The name of a file need not be UTF-8.

use std::path::Path;

use clap::builder::{OsStringValueParser, TypedValueParser};
use slipstitch::os_path::path_to_text;

/// Parses the name of a file as text, whatever its bytes are.
pub(crate) fn file_name() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|name| path_to_text(Path::new(&name)).into_owned())
}
