//! What Emacs is asked to evaluate.
//!
//! File names go in as bytes, everything but plain ASCII escaped, and are decoded by Emacs the way it decodes
//! the names that it reads from folders. So neither the locale nor what a name is made of makes a difference.

use std::fmt::Write;

/// An expression that gives the place in `names` of the first file that has a buffer with unsaved changes, or `nil`.
pub(crate) fn first_unsaved(names: &[String]) -> String {
    over_buffers(names, "(when (and (buffer-modified-p) (null found)) (setq found at))")
}

/// An expression that reads the buffers of `names` again, those without unsaved changes, where the file is there.
/// Point stays at its text; modes stay, and local variables of the file are not looked at.
pub(crate) fn revert(names: &[String]) -> String {
    over_buffers(
        names,
        "(unless (buffer-modified-p) \
         (when (file-exists-p buffer-file-name) \
         (condition-case nil (let ((inhibit-message t)) (revert-buffer t t t)) (error nil))))",
    )
}

/// An expression that does `action` in each buffer that visits one of `names`, by this name or through symlinks; `at` is
/// the name's place in the list. Its value is `found`.
///
/// Handlers of file names are off while names are looked up: a name that looks remote leads to no connection.
fn over_buffers(names: &[String], action: &str) -> String {
    let list: String = names.iter().map(|name| format!(" {}", quoted(name))).collect();
    format!(
        "(let ((coding (or file-name-coding-system default-file-name-coding-system 'utf-8)) \
         (places (make-hash-table :test 'equal)) (next 0) (found nil) \
         (real (lambda (name) (condition-case nil (file-truename name) (error name))))) \
         (let ((file-name-handler-alist nil)) \
         (dolist (bytes '({list})) \
         (let ((name (decode-coding-string bytes coding))) \
         (puthash name next places) \
         (puthash (funcall real name) next places)) \
         (setq next (1+ next)))) \
         (dolist (buffer (buffer-list)) \
         (when (buffer-live-p buffer) \
         (with-current-buffer buffer \
         (when buffer-file-name \
         (let ((at (or (gethash buffer-file-name places) \
         (let ((file-name-handler-alist nil)) (gethash (funcall real buffer-file-name) places))))) \
         (when at {action})))))) \
         found)"
    )
}

/// A string of bytes as Lisp reads it.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' => out.push(char::from(byte)),
            // Three digits always, so that a digit that follows is not read as a part of it.
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
    fn a_name_cannot_end_its_string() {
        assert_eq!(quoted(r#"/a "b\" c"#), r#""/a \"b\\\" c""#);
        assert_eq!(quoted("/é1\n"), r#""/\303\2511\012""#);
    }

    /// What Lisp makes of a string of bytes; `None` if the string ends early or not at all.
    fn read(quoted: &str) -> Option<Vec<u8>> {
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
        fn every_name_is_read_as_it_was(name in any::<String>()) {
            let text = quoted(&name);
            prop_assert!(text.is_ascii());
            prop_assert_eq!(read(&text), Some(name.into_bytes()));
        }
    }
}
