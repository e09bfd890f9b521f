//! Differential tests: each dialect against a small independent model of its document.
//!
//! A model does not use the engine. It says what the document says, and nothing where the document is silent; so the tests
//! demand exact agreement on files and log, and on those parts of an answer that the document prescribes.

mod agent_q;
