//! The integration tests, in one binary. The fixtures have their own, with a harness that does not run `#[test]`
//! functions, so the unit tests of their format are here.

mod cli;
mod conformance;
mod costs;
#[path = "../fixtures/format/mod.rs"]
mod format;
#[path = "../fixtures/format_tests.rs"]
mod format_tests;
mod mcp;
mod packaging;
mod pictures;
