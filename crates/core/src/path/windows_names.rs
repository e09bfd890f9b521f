//! Paths as Windows writes them, and the names that it does not allow or gives another meaning.
//!
//! A path that leads elsewhere than it says is refused before anything is opened: `nul` is a device, `a.txt.` is `a.txt`,
//! `a.txt:x` is a hidden stream of `a.txt`, and `PROGRA~1` is a second name of another file.

/// Names of devices, whatever extension follows.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$"];
/// Names of devices, if a digit follows.
const NUMBERED_DEVICES: &[&str] = &["com", "lpt"];

/// A path with `/` between names, and with its drive first if it is absolute. The error says what is wrong with it.
pub(super) fn normalize(text: &str) -> Result<String, String> {
    let path = text.replace('\\', "/");
    if path.starts_with("//") {
        return Err("network and device paths (`\\\\server`, `\\\\?\\`) are not accepted".into());
    }
    // The form in which paths of other roots are recorded.
    let path = match path.strip_prefix('/') {
        Some(rest) if has_drive(rest) => rest.to_owned(),
        _ => path,
    };
    let names = if has_drive(&path) { &path[3..] } else { &path };
    names.split('/').try_for_each(check_name)?;
    Ok(path)
}

/// Whether a path starts with a drive and a slash, such as `C:/`.
pub(super) fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic())
}

/// Strips `root` from `path`, if `path` is inside it. Case does not matter.
pub(super) fn strip_root<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let root = root.trim_end_matches('/');
    let mut rest = path.chars();
    for wanted in root.chars() {
        let found = rest.next()?;
        if found != wanted && !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    let rest = rest.as_str();
    rest.strip_prefix('/').or(if rest.is_empty() { Some("") } else { None })
}

fn check_name(name: &str) -> Result<(), String> {
    if matches!(name, "" | "." | "..") {
        return Ok(());
    }
    if name.contains(':') {
        return Err(format!("`{name}` has a colon, which names a stream or a drive and no file"));
    }
    if let Some(c) = name.chars().find(|c| c.is_control() || "<>\"|?*".contains(*c)) {
        return Err(format!("no name can contain {c:?}"));
    }
    if name.ends_with(['.', ' ']) {
        return Err(format!("`{name}` ends in a dot or a space, which Windows drops"));
    }
    if is_device(name) {
        return Err(format!("`{name}` is the name of a device"));
    }
    if is_short_name(name) {
        return Err(format!("`{name}` may be the short name of another file; use its long name"));
    }
    Ok(())
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let is_numbered = NUMBERED_DEVICES.iter().any(|device| {
        let mut number = stem.strip_prefix(device).unwrap_or_default().chars();
        let is_digit = number.next().is_some_and(|c| c.is_ascii_digit() || "¹²³".contains(c));
        is_digit && number.next().is_none()
    });
    is_numbered || DEVICES.contains(&stem.as_str())
}

/// Whether a name has the form that Windows gives to second names: up to eight characters with `~` and a number.
fn is_short_name(name: &str) -> bool {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let Some((start, number)) = stem.rsplit_once('~') else { return false };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && !start.is_empty() && stem.chars().count() <= 8 && extension.chars().count() <= 3
}

#[cfg(test)]
mod tests {
    use crate::path::{Absolute, FilePath, PathError, RootName};

    fn parse(text: &str) -> Result<String, PathError> {
        let roots = [
            RootName::first("C:/Code/Project").with_windows_names(true),
            RootName::other("D:/other", "/D:/other").with_windows_names(true),
        ];
        FilePath::parse(text, &roots, Absolute::InsideRoot).map(|path| path.to_string())
    }

    #[test]
    fn both_separators_and_any_case_of_the_root_are_accepted() {
        for text in [
            "src\\main.rs",
            "src/main.rs",
            ".\\src\\main.rs",
            "C:\\Code\\Project\\src\\main.rs",
            "c:/code/project/src/main.rs",
            "/C:/Code/Project/src/main.rs",
        ] {
            assert_eq!(parse(text).unwrap(), "src/main.rs", "{text}");
        }
        assert_eq!(parse("d:\\OTHER\\a.txt").unwrap(), "/D:/other/a.txt");
    }

    #[test]
    fn paths_outside_the_roots_are_refused() {
        for text in ["C:\\Code\\Projects\\a", "C:/Windows/win.ini", "..\\a", "\\Windows\\a", "E:/a"] {
            assert!(matches!(parse(text), Err(PathError::Outside { .. })), "{text}");
        }
    }

    #[test]
    fn names_with_another_meaning_are_refused() {
        for text in [
            "\\\\server\\share\\a",
            "\\\\?\\C:\\Code\\Project\\a",
            "//./nul",
            "nul",
            "src/NUL.txt",
            "Con .log",
            "com1",
            "lpt³.txt",
            "conin$",
            "a.txt.",
            "src /a",
            "a.txt:hidden",
            "a.txt::$DATA",
            "C:a.txt",
            "PROGRA~1/a",
            "longna~2.txt",
            "a|b",
            "a?",
            "a\tb",
        ] {
            let error = parse(text).unwrap_err();
            assert!(matches!(error, PathError::BadName { .. }), "{text}: {error}");
            assert!(error.to_string().contains(text), "{error}");
        }
        for fine in ["null", "console.log", "com10", "com", "a~b", "backup~", ".gitignore", "a b.txt", "ä/ö"]
        {
            assert!(parse(fine).is_ok(), "{fine}");
        }
    }

    #[test]
    fn they_are_ordinary_names_elsewhere() {
        let roots = [RootName::first("/root")];
        for text in ["nul", "a:b", "a\\b", "x."] {
            assert_eq!(FilePath::parse(text, &roots, Absolute::InsideRoot).unwrap().as_str(), text);
        }
    }
}
