use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use unicode_normalization::UnicodeNormalization;

pub use crate::unix::names::*;

/// Bytes that are the same for every spelling of a name.
///
/// APFS and HFS+ ignore case by default, and two spellings of an accented letter are one name. On a volume that tells case
/// apart, two files whose names differ in nothing else share a lock and cannot be changed in one call.
pub fn folded(name: &OsStr) -> Vec<u8> {
    match name.to_str() {
        Some(name) => {
            let lower: String = name.nfd().flat_map(char::to_lowercase).collect();
            lower.nfd().collect::<String>().into_bytes()
        }
        None => name.as_bytes().to_vec(),
    }
}
