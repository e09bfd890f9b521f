//! Random bytes from the operating system, for keys, tokens and session names.

use std::io;

pub(crate) fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// `N` random bytes as lowercase hexadecimal digits.
pub(crate) fn hex<const N: usize>() -> io::Result<String> {
    Ok(bytes::<N>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}
