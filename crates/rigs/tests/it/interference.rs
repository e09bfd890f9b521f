//! The program edits two files while something interferes: kills, errors, other writers, or a limited file system.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod fixture;
mod foreign_writer;
mod no_exchange;
mod saved_meanwhile;
mod stepping_in;
