//! Text as editing tools need it: bytes that must survive, and the view of them that matching sees.
//!
//! | you want to | look at |
//! | --- | --- |
//! | find out a file's encoding and encode text into it | [`Encoding`], [`detect`] |
//! | count and convert line endings | [`NewlineCounts`], [`canonical`], [`converted`] |
//! | search any file as LF-only text and map matches back to bytes | [`View`] |
//! | turn offsets into line numbers | [`LineIndex`] |
//! | name a file's content | [`ContentHash`], [`VersionClaim`] |
//! | replace byte ranges, compose and invert such changes | [`Splices`] |
//! | carry splices over changes made by someone else | [`rebase`] |
//! | compare two texts line by line | [`narrow`], [`apart`] |
//! | shorten, quote and list text in messages | [`display`] |
//!
//! The crate does no I/O.

pub mod display;
pub mod rebase;

mod diff;
mod encoding;
mod hash;
mod line_index;
mod narrow;
mod newline;
mod splice;
mod view;

pub use diff::apart;
pub use encoding::{Detected, Encoding, EncodingRule, Unencodable, UnknownEncoding, detect};
pub use hash::{BadVersion, ContentHash, VersionClaim};
pub use line_index::LineIndex;
pub use narrow::{Swap, lines_apart, narrow};
pub use newline::{Newline, NewlineCounts, canonical, converted, lines};
pub use splice::{Overlap, Piece, Span, Splice, Splices};
pub use view::{Built, View, raw_span};
