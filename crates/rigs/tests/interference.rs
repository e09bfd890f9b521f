//! The program edits two files while something interferes: kills, errors, other writers, or a limited file system.

#[path = "interference/fixture.rs"]
mod fixture;
#[path = "interference/foreign_writer.rs"]
mod foreign_writer;
#[path = "interference/no_exchange.rs"]
mod no_exchange;
#[path = "support/program.rs"]
mod program;
