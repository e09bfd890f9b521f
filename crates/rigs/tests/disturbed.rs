//! The program run on two files while something disturbs it: kills, errors, other writers, a file system that can do less.

#[path = "disturbed/foreign.rs"]
mod foreign;
#[path = "support/program.rs"]
mod program;
#[path = "disturbed/rename.rs"]
mod rename;
#[path = "disturbed/site.rs"]
mod site;
