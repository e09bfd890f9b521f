//! Text handling for editing tools: files are bytes that must survive an edit, and matching works on a view of them.
//!
//! | To | use |
//! | --- | --- |
//! | detect a file's encoding and encode text into it | [`detect`], [`Encoding`] |
//! | count and convert line endings | [`NewlineCounts`], [`canonical`], [`convert_newlines`] |
//! | search any file as LF-only text and map matches back to bytes | [`View`] |
//! | turn offsets into line numbers | [`LineIndex`] |
//! | identify a file's content | [`ContentHash`], [`VersionClaim`]; block by block [`BlockHashes`] |
//! | name a line by a short hash of its text | [`line_hash()`] |
//! | replace byte ranges, and compose and invert such changes | [`Splices`] |
//! | compose steps of which some revert others | [`compose_restoring`] |
//! | rebase splices onto someone else's changes | [`rebase`] |
//! | compare two texts line by line | [`diff_lines`], [`diff_splices`] |
//! | shorten, quote and list text in messages | [`display`] |
//!
//! The crate does no I/O.
//!
//! ```
//! use slipstitch_text::{EncodingRule, Span, Splices, View, detect, raw_span};
//!
//! let file = b"\xEF\xBB\xBFone\r\ntwo\n"; // a BOM and mixed line endings
//! let found = detect(file, EncodingRule::Detect);
//! let (view, newlines) = View::new(file, found.encoding, found.bom);
//! assert_eq!(view.text(file), b"one\ntwo\n");
//! assert!(newlines.is_mixed());
//!
//! let two = raw_span(&view, file, Span::new(4, 7)).unwrap();
//! let after = Splices::one(file.len(), two, b"2".to_vec()).apply(file);
//! assert_eq!(after, b"\xEF\xBB\xBFone\r\n2\n");
//! ```

pub mod display;
pub mod file_name;
pub mod rebase;

mod block_hash;
mod encoding;
mod hash;
mod line_diff;
mod line_hash;
mod line_index;
mod newline;
mod restored;
mod short_bytes;
mod splice;
mod splice_diff;
mod view;

pub use block_hash::{BlockHasher, BlockHashes};
pub use encoding::{Detected, Encoding, EncodingRule, Unencodable, UnknownEncoding, detect};
pub use hash::{BadVersion, ContentHash, VersionClaim};
pub use line_diff::{ChangedRange, diff_lines, diff_slices, for_each_changed_range};
pub use line_hash::line_hash;
pub use line_index::LineIndex;
pub use newline::{Newline, NewlineCounts, canonical, convert_newlines, lines};
pub use restored::{Step, compose_restoring};
pub use short_bytes::ShortBytes;
pub use splice::{Overlap, Piece, Span, Splice, Splices};
pub use splice_diff::diff_splices;
pub use view::{DecodedView, View, raw_span};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
