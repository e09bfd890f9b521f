//! Own guard: a licence header must stay.

use slipstitch_core::guard::{Guard, GuardInput, Refusal, Verdict};

const HEADER: &[u8] = b"// SPDX-License-Identifier:";

pub(crate) const KEEP_LICENSE: Guard = Guard { name: "keep_license", judge };

/// Guards run twice: before the places of the edits are known (`changes` is `None`), and with the resulting change.
fn judge(input: &GuardInput<'_>) -> Verdict {
    for file in input.changes.iter().flat_map(|changes| changes.files()) {
        let before = input.snapshots.bytes(&file.path);
        let is_deleted = file.path_after().is_none();
        if before.starts_with(HEADER) && !is_deleted && !file.splices.apply(before).starts_with(HEADER) {
            return Verdict::Refuse(Refusal::Custom {
                code: "license_removed",
                message: format!("the edit would remove the licence header of `{}`", file.path),
                hint: "Keep the first line and send the rest of the edit again.".into(),
            });
        }
    }
    Verdict::Pass
}
