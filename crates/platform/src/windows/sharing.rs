//! Waits for programs that have a file open for a moment without sharing it, such as virus scanners and indexers.

use std::io;
use std::time::Duration;

use crate::problems::Problem;

/// How often an operation is tried.
const ATTEMPTS: u32 = 10;
/// The first pause; it doubles. All of them together take about a second.
const FIRST_PAUSE: Duration = Duration::from_millis(2);

/// Tries an operation again as long as another program does not share the file, up to a limit.
pub(crate) fn retry<T>(operation: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        match operation() {
            Err(error) if super::problem::of(&error) == Some(Problem::InUse) => {
                std::thread::sleep(pause);
                pause *= 2;
            }
            result => return result,
        }
    }
    operation()
}
