//! The Lisp expressions that Emacs evaluates.
//!
//! File names are passed as bytes, with everything but printable ASCII escaped, and Emacs decodes them as it decodes names
//! from directories. So neither the locale nor unusual characters in a name make a difference.

use std::fmt::Write;

/// An expression for the index in `names` of a file that has unsaved changes in a buffer; `nil` if there is none.
pub(crate) fn find_unsaved(names: &[String]) -> String {
    for_each_buffer(names, "(when (and (buffer-modified-p) (null found)) (setq found at))")
}

/// An expression that reloads the buffers of `names` that have no unsaved changes, if the file exists. Point, marks, overlays,
/// modes, narrowing and the read-only state are preserved, and file-local variables are not evaluated. Its value lists the
/// buffers that were not reloaded: `((INDEX . unsaved) (INDEX . failed))`. Undo reverts the reload as a separate step.
///
/// A mode may have its own revert function, which need not read the file. Whether it did shows in the file time that the buffer
/// remembers.
///
/// While a file is visited again, Emacs sets the read-only state from the file's permissions and, with `view-read-only`, enters
/// or leaves View mode; so both are restored.
fn revert(names: &[String]) -> String {
    for_each_buffer(
        names,
        "(cond ((buffer-modified-p) (push (cons at 'unsaved) found)) \
         ((file-exists-p buffer-file-name) \
         (let ((inhibit-message t) (view-read-only nil) (read-only buffer-read-only) \
         (start (and (buffer-narrowed-p) (copy-marker (point-min)))) \
         (end (and (buffer-narrowed-p) (copy-marker (point-max))))) \
         (undo-boundary) \
         (unless (condition-case nil (progn (revert-buffer t t t) (verify-visited-file-modtime)) (error nil)) \
         (push (cons at 'failed) found)) \
         (undo-boundary) \
         (setq buffer-read-only read-only) \
         (when start (narrow-to-region start end) (set-marker start nil) (set-marker end nil)))))",
    )
}

/// An expression that brings all buffers up to date after a change: those of moved files (old and new name) get the new name,
/// those of `names` are reloaded. Its value lists what could not be done: besides that of [`revert`], `(INDEX . renaming)` for
/// a moved file and `(INDEX . deleted)` for a deleted one that is still open.
pub(crate) fn follow(names: &[String], moved: &[(String, String)], deleted: &[String]) -> String {
    let mut parts = Vec::new();
    if !moved.is_empty() {
        let (from, to): (Vec<String>, Vec<String>) = moved.iter().cloned().unzip();
        parts.push(rename(&from, &to));
    }
    if !deleted.is_empty() {
        parts.push(for_each_buffer(deleted, "(push (cons at 'deleted) found)"));
    }
    parts.push(revert(names));
    format!("(append {})", parts.join(" "))
}

/// An expression that gives the buffers of `from` the names `to` and otherwise leaves them as they are: the major mode, the
/// read-only state and whether they are modified.
fn rename(from: &[String], to: &[String]) -> String {
    let to: String = to.iter().map(|name| format!(" {}", quote_bytes(name))).collect();
    let action = format!(
        "(let ((inhibit-message t) (view-read-only nil) (read-only buffer-read-only) \
         (change-major-mode-with-file-name nil)) \
         (condition-case nil \
         (set-visited-file-name (decode-coding-string (nth at '({to})) coding) t t) \
         (error (push (cons at 'renaming) found))) \
         (setq buffer-read-only read-only))"
    );
    for_each_buffer(from, &action)
}

/// An expression for the version, and the numbers of files that are open and that have unsaved changes.
pub(crate) fn status() -> &'static str {
    "(let ((open 0) (unsaved 0)) \
     (dolist (buffer (buffer-list)) \
     (when (buffer-file-name buffer) \
     (setq open (1+ open)) \
     (when (buffer-modified-p buffer) (setq unsaved (1+ unsaved))))) \
     (format \"%s %d %d\" emacs-version open unsaved))"
}

/// An expression that evaluates `action` in each buffer that visits one of `names`, directly or through symlinks, and returns
/// the variable `found`. In `action`, `at` is the index of the name.
///
/// File name handlers are disabled while names are resolved, so that a name that looks remote does not open a connection.
fn for_each_buffer(names: &[String], action: &str) -> String {
    let list: String = names.iter().map(|name| format!(" {}", quote_bytes(name))).collect();
    format!(
        "(let ((coding (or file-name-coding-system default-file-name-coding-system 'utf-8)) \
         (indexes (make-hash-table :test 'equal)) (next 0) (found nil) \
         (real (lambda (name) (condition-case nil (file-truename name) (error name))))) \
         (let ((file-name-handler-alist nil)) \
         (dolist (bytes '({list})) \
         (let ((name (decode-coding-string bytes coding))) \
         (puthash name next indexes) \
         (puthash (funcall real name) next indexes)) \
         (setq next (1+ next)))) \
         (dolist (buffer (buffer-list)) \
         (when (buffer-live-p buffer) \
         (with-current-buffer buffer \
         (when buffer-file-name \
         (let ((at (or (gethash buffer-file-name indexes) \
         (let ((file-name-handler-alist nil)) (gethash (funcall real buffer-file-name) indexes))))) \
         (when at {action})))))) \
         found)"
    )
}

/// A unibyte string literal.
fn quote_bytes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' => out.push(char::from(byte)),
            // Always three digits, so that a following digit is not read as part of the escape.
            _ => drop(write!(out, "\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotes_and_control_characters_are_escaped() {
        assert_eq!(quote_bytes(r#"/a "b\" c"#), r#""/a \"b\\\" c""#);
        assert_eq!(quote_bytes("/é1\n"), r#""/\303\2511\012""#);
    }

    /// Parses a string literal as Lisp does; `None` if it ends early or not at all.
    fn parse_literal(quoted: &str) -> Option<Vec<u8>> {
        let mut bytes = quoted.strip_prefix('"')?.strip_suffix('"')?.bytes();
        let mut out = Vec::new();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => return None,
                b'\\' => match bytes.next()? {
                    first @ b'0'..=b'7' => {
                        let digits = [first, bytes.next()?, bytes.next()?];
                        out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()?);
                    }
                    escaped => out.push(escaped),
                },
                plain => out.push(plain),
            }
        }
        Some(out)
    }

    proptest! {
        #[test]
        fn every_name_round_trips(name in any::<String>()) {
            let text = quote_bytes(&name);
            prop_assert!(text.is_ascii());
            prop_assert_eq!(parse_literal(&text), Some(name.into_bytes()));
        }
    }
}
