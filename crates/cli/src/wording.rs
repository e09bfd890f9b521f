//! The engine's hints, in the words of someone who types commands.
//!
//! Hints are written for callers that send requests. At a terminal nothing is sent: a text is given with an option, and lines
//! are looked at with `slipstitch read`.

use slipstitch::core::report::Report;

/// What the engine says, and what is said at a terminal.
const WORDS: &[(&str, &str)] = &[
    ("Send `--old`", "Use `--old`"),
    ("send `--old`", "use `--old`"),
    ("Send the hunk", "Write the hunk"),
    ("send the hunk", "write the hunk"),
    ("Send a unified diff", "Use a unified diff"),
    ("send it only as deleted", "list it only as removed"),
    ("send the edit with its path", "name that file"),
    (
        "Check the path, read the file, and copy `--old` from it.",
        "Check the path and copy `--old` from the file.",
    ),
    ("Leave that edit out and retry the others.", "Leave that edit out and try again."),
    (" again; any of them may be meant", "; any of them may be meant"),
    ("otherwise read ", "otherwise look at "),
    ("Read the file again and make", "Look at the file and make"),
    ("Read the file again.", "Look at the file."),
    ("Read the file again;", "Look at the file;"),
    ("Read the file again, make", "Look at the file, make"),
    ("Read the file and use line numbers", "Use line numbers"),
    (
        "Ask the user to give this process access to the file.",
        "Check the permissions of the file and its folder.",
    ),
    (" Ask the user how to proceed with this file.", ""),
    ("Ask the user to save or revert", "Save or revert"),
    ("then read the file and retry the edit.", "then try again."),
    ("Leave this change to the user: the settings", "The settings"),
    ("Leave it to the user: the settings", "The settings"),
    ("Send the id from the answer to the edit.", "`slipstitch log` lists the changes."),
    ("Send more digits of the version.", "Use more digits of the version."),
    ("Read the file again and repeat", "Look at the file and repeat"),
    ("Read lines ", "Look at lines "),
    ("Read line ", "Look at line "),
];

/// Rewrites the hints of a report, and what messages say about the request.
pub(crate) fn address_a_person(report: &mut Report) {
    let failures = report.failures.iter_mut().map(|failure| &mut failure.message);
    for message in failures.chain([&mut report.message]).chain(&mut report.warnings) {
        *message = message.replace(", you sent `", ", you gave `").replace(", you sent \"", ", you gave \"");
    }
    if report.files.iter().map(|file| file.edits.len()).sum::<usize>() <= 1 {
        for warning in &mut report.warnings {
            if let Some(rest) = warning.strip_prefix("edit 1: ") {
                *warning = rest.to_owned();
            }
        }
    }
    let failures = report.failures.iter_mut().map(|failure| &mut failure.hint);
    for hint in report.hint.iter_mut().chain(failures) {
        *hint = rewrite(hint);
        if report.message.contains("a dangling symlink is in the way") {
            hint.push_str(" Create the file that the link names, or remove the link.");
        }
        // Nobody expects a read to write.
        if let Some(rest) =
            hint.strip_prefix("Nothing was written. ").filter(|_| report.message.starts_with("cannot read"))
        {
            *hint = rest.to_owned();
        }
    }
}

fn rewrite(hint: &str) -> String {
    let mut text = WORDS.iter().fold(hint.to_owned(), |text, (from, to)| text.replace(from, to));
    if text.contains("ook at ") {
        text = text.replace(" again.", ".");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::rewrite;

    #[test]
    fn nothing_is_sent_at_a_terminal() {
        let hint = "If that is the line you mean, send `--old` as the file has it; otherwise read lines 2-8 and lines 6-9 again.";
        let want = "If that is the line you mean, use `--old` as the file has it; otherwise look at lines 2-8 and lines 6-9.";
        assert_eq!(rewrite(hint), want);
        assert_eq!(rewrite("Nothing to do."), "Nothing to do.");
    }
}
