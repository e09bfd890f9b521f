//! The fuzz targets. Each takes any bytes and panics if an invariant is violated.
//!
//! | module | what it fuzzes | where its targets also run, on mutations of the corpus |
//! | --- | --- | --- |
//! | `targets` | the patch parsers | `crates/patch/tests/patches.rs` |
//! | `engine_targets` | whole calls in memory | `crates/core/tests/it/fuzz_targets.rs` |

// The attribute lets a module find its submodules next to it, as it does where tests include it.
#[path = "engine_targets.rs"]
mod engine_targets;
#[path = "targets.rs"]
mod targets;

pub use engine_targets::{batches, calls};
pub use targets::{detect, search_replace, unified, v4a};
