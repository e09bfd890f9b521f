//! The program edits two files while something interferes: kills, errors, other writers, or a limited file system.

mod fixture;
mod foreign_writer;
mod no_exchange;
mod saved_meanwhile;
