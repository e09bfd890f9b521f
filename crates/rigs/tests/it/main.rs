//! The rigs at the quick scale, in one binary.

mod concurrency;
mod errors;
mod escape;
mod flips;
mod full_disk;
mod interference;
mod kill;
mod metadata;
mod power;
mod support;
