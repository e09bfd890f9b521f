//! Inputs that broke other edit tools. Every test checks the resulting file; a refusal must leave every byte
//! unchanged.

mod bytes;
mod depth;
mod evidence;
mod follow;
mod hints;
mod layout;
mod malformed;
mod offers;
mod outer_newlines;
mod place;
mod state;
mod toy;

use slipstitch_core::engine::Answer;
use slipstitch_core::outcome::Status;

use crate::rig::Rig;

/// Sends an edit that must be applied, and compares every byte of the result.
#[track_caller]
fn applied(before: impl AsRef<[u8]>, old: &str, new: &str, after: impl AsRef<[u8]>) -> Answer {
    let rig = Rig::new(before.as_ref());
    let answer = rig.edit(old, new);
    assert_eq!(shown(&rig.bytes()), shown(after.as_ref()), "{}", answer.text);
    assert_eq!(rig.bytes(), after.as_ref());
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    answer
}

/// Sends an edit that must be refused, and checks that nothing has changed.
#[track_caller]
fn refused(before: impl AsRef<[u8]>, old: &str, new: &str, code: &str) -> Answer {
    let rig = Rig::new(before.as_ref());
    let answer = rig.edit(old, new);
    assert_eq!(shown(&rig.bytes()), shown(before.as_ref()), "{}", answer.text);
    assert_eq!(rig.bytes(), before.as_ref());
    assert_eq!(answer.report.code(), code, "{}", answer.text);
    assert_ne!(answer.report.status(), Status::Applied);
    answer
}

/// The warning about how the place was found.
#[track_caller]
fn recovered(answer: &Answer) -> &str {
    let warning = answer.report.warnings.iter().find(|warning| warning.contains("recovered"));
    warning.unwrap_or_else(|| panic!("no warning about the recovery: {:?}", answer.report.warnings))
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
