//! Code for one operating system is in `slipstitch-platform` and nowhere else.

use crate::modules::{closing, is_test, item_end};
use crate::tokens::{Token, tokenize};

/// Conditions that name a system, in `cfg` and its relatives.
const CONDITIONS: &[&str] = &["unix", "windows", "target_os", "target_family", "target_vendor", "target_env"];

/// Modules of `std::os` that not every system has.
const OS_MODULES: &[&str] = &["unix", "linux", "macos", "darwin", "windows", "fd"];

/// Crates that expose the calls of one system.
const SYSTEM_CRATES: &[&str] = &["rustix", "libc", "nix", "winsafe", "winx", "windows", "windows_sys"];

/// Paths that exist only on some systems.
const SYSTEM_PATHS: &[&str] = &["\"/proc/", "/dev/tty"];

/// The lines of a source file that are specific to one system, apart from tests.
pub(crate) fn lines_for_one_system(source: &str) -> Vec<String> {
    let tokens = tokenize(source);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let lines: Vec<&str> = source.lines().collect();
    let (mut found, mut tested) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if text(at) == "#" && text(at + 1) == "[" {
            let end = closing(&tokens, at + 1);
            if is_test(&tokens[at + 2..end]) {
                let after = item_end(&tokens, end + 1);
                let last = tokens.get(after).map_or(lines.len() + 1, |token| token.line);
                tested.push(tokens[at].line..last);
                at = after;
                continue;
            }
        }
        if is_for_one_system(&tokens, at) {
            found.push(tokens[at].line);
        }
        at += 1;
    }
    let is_tested = |line: usize| tested.iter().any(|lines| lines.contains(&line));
    let paths = lines.iter().enumerate().filter(|(at, line)| {
        let is_code = !line.trim_start().starts_with("//") && !is_tested(at + 1);
        is_code && SYSTEM_PATHS.iter().any(|path| line.contains(path))
    });
    found.extend(paths.map(|(at, _)| at + 1));
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|line| format!("{line}: {}", lines[line - 1].trim())).collect()
}

fn is_for_one_system(tokens: &[Token<'_>], at: usize) -> bool {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let is_path = text(at + 1) == "::";
    match text(at) {
        "cfg" | "cfg_attr" | "cfg_select" => {
            let open = if text(at + 1) == "!" { at + 2 } else { at + 1 };
            let has_arguments = matches!(text(open), "(" | "{" | "[");
            has_arguments
                && tokens[open..closing(tokens, open)].iter().any(|token| CONDITIONS.contains(&token.text))
        }
        "os" => is_path && OS_MODULES.contains(&text(at + 2)),
        name => is_path && SYSTEM_CRATES.contains(&name) && (at == 0 || text(at - 1) != "::"),
    }
}

/// The sections of a manifest that list dependencies for one system.
pub(crate) fn dependencies_for_one_system(manifest: &str) -> Vec<String> {
    let table: toml::Table = manifest.parse().unwrap();
    let targets = table.get("target").and_then(toml::Value::as_table);
    let is_linked =
        |kinds: &toml::Value| kinds.get("dependencies").or(kinds.get("build-dependencies")).is_some();
    targets
        .into_iter()
        .flatten()
        .filter(|(_, kinds)| is_linked(kinds))
        .map(|(name, _)| name.clone())
        .collect()
}

#[test]
fn finds_code_for_one_system() {
    for bad in [
        "#[cfg(unix)]\nfn a() {}",
        "#[cfg(not(any(windows, test)))]\nfn a() {}",
        "#[cfg(any(\n    feature = \"a\",\n    target_vendor = \"apple\",\n))]\nfn a() {}",
        "#[cfg_attr(windows, path = \"b.rs\")]\nmod a;",
        "fn a() { if cfg!(windows) {} }",
        "fn a() { if cfg!(target_os = \"linux\") {} }",
        "fn a() { cfg_select! { unix => 1, _ => 2 } }",
        "use std::os::unix::fs::MetadataExt;",
        "fn a() { libc::getpid() }",
        "let path = \"/proc/self/fd\";",
        "#[cfg(not(windows))]\nmod tests;",
        "#[cfg(test)]\nmod tests {}\n#[cfg(unix)]\nfn a() {}",
        "#[cfg(test)]\nuse std::a;\nuse std::os::fd::AsFd;",
    ] {
        assert_eq!(lines_for_one_system(bad).len(), 1, "{bad}");
    }
    for good in [
        "// cfg(unix)\nfn a() {}",
        "fn a() { x.windows(2); let unix = \"cfg(unix)\"; }",
        "#[cfg(feature = \"rig\")]\nfn a() {}",
        "fn a() {}\n#[cfg(test)]\nmod tests {\n    use std::os::unix::fs::symlink;\n    const A: &str = \"/proc/self\";\n}",
        "fn a() {}\n#[cfg(all(test, unix))]\nmod tests { fn a() { libc::getpid() } }",
    ] {
        assert_eq!(lines_for_one_system(good), [""; 0], "{good}");
    }
}

#[test]
fn finds_dependencies_for_one_system() {
    let section = |kind: &str| format!("[target.'cfg(unix)'.{kind}]\nrustix = \"1\"\n");
    assert_eq!(dependencies_for_one_system(&section("dependencies")), ["cfg(unix)"]);
    assert_eq!(dependencies_for_one_system(&section("dev-dependencies")), [""; 0]);
    assert_eq!(dependencies_for_one_system("[dependencies]\nserde = \"1\"\n"), [""; 0]);
}
