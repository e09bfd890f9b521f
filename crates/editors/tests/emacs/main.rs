//! Edits files that are open in a real Emacs.
//!
//! The tests wait for conditions with generous limits instead of measuring time, and stop every Emacs that they start.

mod rig;
mod state;
mod sync;
mod unreachable;
