//! Code for one operating system is in `slipstitch-platform` and nowhere else.

/// What only code for one system has.
const MARKS: &[&str] = &[
    "target_os",
    "target_family",
    "cfg(unix)",
    "cfg(windows)",
    "not(unix)",
    "not(windows)",
    "os::unix",
    "os::linux",
    "os::macos",
    "os::windows",
    "os::fd",
    "rustix::",
    "\"/proc/",
    "/dev/tty",
];

/// The lines of a source file that are for one system. Tests of a crate may be: they are at the end of a file.
pub(crate) fn lines_for_one_system(source: &str) -> Vec<String> {
    let tested = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let is_for_one_system = |line: &&str| MARKS.iter().any(|mark| line.contains(mark));
    let code = tested.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    code.filter(is_for_one_system).map(ToOwned::to_owned).collect()
}

#[test]
fn finds_code_for_one_system() {
    for bad in [
        "#[cfg(unix)]\nfn a() {}",
        "use std::os::unix::fs::MetadataExt;",
        "fn a() { if cfg!(target_os = \"linux\") {} }",
        "let path = \"/proc/self/fd\";",
        "#[cfg(not(windows))]\nmod tests;",
    ] {
        assert_eq!(lines_for_one_system(bad).len(), 1, "{bad}");
    }
    for good in [
        "// cfg(unix)\nfn a() {}",
        "fn a() {}\n#[cfg(test)]\nmod tests {\n    use std::os::unix::fs::symlink;\n}",
    ] {
        assert_eq!(lines_for_one_system(good), [""; 0], "{good}");
    }
}
