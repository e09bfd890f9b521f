//! What a buffer keeps when it is reloaded.

use std::fs;

use crate::rig::Rig;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";

// Shows: INV-004, 002-buffer-state
#[test]
fn a_read_only_buffer_stays_read_only() {
    let rig = Rig::new(&[("a.txt", TEXT)]);
    let emacs = rig.daemon("test");
    emacs.in_buffer("a.txt", "(read-only-mode 1)");
    rig.edit_cleanly("a.txt", "two", "second");
    assert_eq!(emacs.buffer("a.txt"), rig.file("a.txt"));
    assert_eq!(emacs.in_buffer("a.txt", "buffer-read-only"), "t");
    // Also if it was set without the command, which some versions of Emacs remember.
    emacs.in_buffer("a.txt", "(setq buffer-read-only t)");
    rig.edit_cleanly("a.txt", "second", "2");
    assert_eq!(emacs.in_buffer("a.txt", "buffer-read-only"), "t");
}

// Shows: INV-004, 002-buffer-state
#[test]
fn view_mode_survives_with_and_without_view_read_only() {
    for setting in ["nil", "t"] {
        let rig = Rig::new(&[("a.txt", TEXT), ("plain.txt", TEXT)]);
        let emacs = rig.daemon("test");
        emacs.eval(&format!("(setq view-read-only {setting})"));
        emacs.in_buffer("a.txt", "(view-mode 1)");
        emacs.in_buffer("plain.txt", "t");
        for name in ["a.txt", "plain.txt"] {
            rig.edit_cleanly(name, "two", "second");
            assert_eq!(emacs.buffer(name), rig.file(name));
        }
        assert_eq!(emacs.in_buffer("a.txt", "(and view-mode buffer-read-only t)"), "t", "{setting}");
        assert_eq!(emacs.in_buffer("plain.txt", "(or view-mode buffer-read-only)"), "nil", "{setting}");
        // Leaving View mode makes the buffer writable again, as without the edit.
        emacs.in_buffer("a.txt", "(view-mode -1)");
        assert_eq!(emacs.in_buffer("a.txt", "buffer-read-only"), "nil", "{setting}");
    }
}

// Shows: INV-004, 002-buffer-state
#[test]
fn narrowing_survives_changes_inside_and_outside() {
    let rig = Rig::new(&[("a.txt", TEXT)]);
    let emacs = rig.daemon("test");
    let narrow = "(goto-char (point-min)) (search-forward \"two\") \
                  (narrow-to-region (line-beginning-position) (progn (search-forward \"four\\n\") (point)))";
    emacs.in_buffer("a.txt", narrow);
    let visible = || emacs.in_buffer("a.txt", "(buffer-string)");
    assert_eq!(visible(), r#""two\nthree\nfour\n""#);
    rig.edit_cleanly("a.txt", "one", "the first line");
    assert_eq!(visible(), r#""two\nthree\nfour\n""#);
    rig.edit_cleanly("a.txt", "three", "3\n3");
    assert_eq!(visible(), r#""two\n3\n3\nfour\n""#);
    rig.edit_cleanly("a.txt", "five", "5");
    assert_eq!(visible(), r#""two\n3\n3\nfour\n""#);
    assert_eq!(emacs.buffer("a.txt"), rig.file("a.txt"));
    assert_eq!(emacs.in_buffer("a.txt", "(buffer-modified-p)"), "nil");
}

// Shows: INV-004, 002-buffer-state
#[test]
fn marks_overlays_and_undo_survive() {
    let rig = Rig::new(&[("a.txt", TEXT)]);
    let emacs = rig.daemon("test");
    emacs.in_buffer(
        "a.txt",
        "(buffer-enable-undo) (goto-char (point-max)) (insert \"six\\n\") (undo-boundary) (save-buffer) \
         (goto-char (point-min)) (search-forward \"four\") (push-mark (point) t) \
         (overlay-put (make-overlay (line-beginning-position) (line-end-position)) 'kept t)",
    );
    rig.edit_cleanly("a.txt", "two", "the second line");
    let after = |expression: &str| emacs.in_buffer("a.txt", expression);
    assert_eq!(after("(save-excursion (goto-char (mark t)) (looking-back \"four\" (point-min)))"), "t");
    let covered = "(let ((overlay (seq-find (lambda (o) (overlay-get o 'kept)) \
                   (overlays-in (point-min) (point-max))))) \
                   (buffer-substring-no-properties (overlay-start overlay) (overlay-end overlay)))";
    assert_eq!(after(covered), "\"four\"");
    assert_ne!(after("(length buffer-undo-list)"), "0");
    // Undo takes the reload back first, then what was typed before it.
    after("(let ((last-command nil)) (undo))");
    assert_eq!(emacs.buffer("a.txt"), format!("{TEXT}six\n"));
}

// Shows: INV-004, 002-exact-line-ends
#[test]
fn crlf_and_latin_1_buffers_are_reloaded_as_they_were_read() {
    let rig = Rig::new(&[("crlf.txt", "one\r\ntwo\r\n")]);
    fs::write(rig.path("latin.txt"), b"gr\xFC\xDFe\nma\xDF\n").unwrap();
    let emacs = rig.daemon("test");
    emacs.eval("(prefer-coding-system 'latin-1)");
    let coding = |name: &str| emacs.in_buffer(name, "(symbol-name buffer-file-coding-system)");
    let before = [coding("crlf.txt"), coding("latin.txt")];
    rig.edit_cleanly("crlf.txt", "two", "zwei\ndrei");
    rig.edit_cleanly("latin.txt", "maß", "Größe");
    assert_eq!(rig.file("crlf.txt"), "one\r\nzwei\r\ndrei\r\n");
    assert_eq!(fs::read(rig.path("latin.txt")).unwrap(), b"gr\xFC\xDFe\nGr\xF6\xDFe\n");
    assert_eq!(emacs.buffer("crlf.txt"), "one\nzwei\ndrei\n");
    assert_eq!(emacs.buffer("latin.txt"), "grüße\nGröße\n");
    assert_eq!([coding("crlf.txt"), coding("latin.txt")], before);
    // Saving from Emacs writes the same bytes.
    emacs.in_buffer("crlf.txt", "(set-buffer-modified-p t) (save-buffer)");
    assert_eq!(rig.file("crlf.txt"), "one\r\nzwei\r\ndrei\r\n");
}
