//! The places of a change as they are now, with line numbers: made from its diff.

use std::fmt::Write;

/// How many lines an answer carries.
const MOST_LINES: usize = 80;

/// The lines that a unified diff leaves, numbered; `…` stands between places that are apart.
pub fn snippet(diff: &str) -> String {
    let mut out = String::new();
    let mut number = 0;
    let mut shown = 0;
    let mut left_out = 0;
    let body = diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@ "));
    for line in body {
        let line = line.trim_end_matches(['\n', '\r']);
        if let Some(start) = hunk_start(line) {
            if shown > 0 && left_out == 0 {
                out.push_str("…\n");
            }
            number = start;
        } else if let Some(text) = line.strip_prefix([' ', '+']) {
            if shown < MOST_LINES {
                let _ = writeln!(out, "{number:>6}\t{text}");
                shown += 1;
            } else {
                left_out += 1;
            }
            number += 1;
        }
    }
    if left_out > 0 {
        let _ = writeln!(out, "[… {left_out} more lines …]");
    }
    out.pop();
    out
}

/// The line at which a hunk starts in the new text.
fn hunk_start(line: &str) -> Option<usize> {
    let (_, new) = line.strip_prefix("@@ ")?.split_once(" +")?;
    new.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_and_what_comes_is_numbered() {
        let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n+1\r\n two\n@@ -8,1 +8,2 @@\n+7.5\n eight\n\\ No newline at end of file\n";
        assert_eq!(snippet(diff), "     1\t1\n     2\ttwo\n…\n     8\t7.5\n     9\teight");
    }

    #[test]
    fn a_long_change_is_cut() {
        let added: String = (0..100).map(|n| format!("+{n}\n")).collect();
        let text = snippet(&format!("@@ -0,0 +1,100 @@\n{added}"));
        assert_eq!(text.lines().count(), 81);
        assert!(text.ends_with("[… 20 more lines …]"), "{text}");
    }
}
