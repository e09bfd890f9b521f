//! Paths of the system as text, and back. A name need not be UTF-8; see [`slipstitch_core::text::file_name`].

pub use slipstitch_platform::names::{path_to_text, text_to_path};
