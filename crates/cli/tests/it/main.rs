//! The integration tests, in one binary. The fixtures have their own, with a harness that does not run `#[test]`
//! functions, so the unit tests of their format are here.
//!
//! Tests that need a terminal, valgrind, Python or a shell script run on Unix only.

mod cli;
mod conformance;
#[cfg(unix)]
mod costs;
#[path = "../fixtures/format/mod.rs"]
mod format;
#[path = "../fixtures/format_tests.rs"]
mod format_tests;
mod mcp;
#[cfg(unix)]
mod packaging;
#[cfg(unix)]
mod pictures;
#[cfg(unix)]
mod release;
