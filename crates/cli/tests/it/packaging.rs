//! The packaging files in `packaging/mcp` match the program: version, tools, options.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use slipstitch::core::dialect::Dialect;
use slipstitch::core::outcome::{Failed, Invalid, Refused, Unplaced};
use slipstitch::core::plan::{Plan, Tolerance};
use slipstitch::core::settings::Settings;
use slipstitch::core::text::display::{quote_and, quote_names};
use slipstitch::dialects::BUILTIN;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> Value {
    let text = std::fs::read_to_string(repository().join("packaging/mcp").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn slipstitch() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("slipstitch"))
}

/// Whether the program accepts these arguments: clap parses them before it gets to `--help`.
fn accepts(arguments: &[String]) -> bool {
    slipstitch().args(arguments).arg("--help").output().unwrap().status.success()
}

#[test]
fn packaging_files_have_the_program_s_version() {
    let (manifest, server) = (read("manifest.json"), read("server.json"));
    for version in [&manifest["version"], &server["version"], &server["packages"][0]["version"]] {
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
    }
    assert_eq!(manifest["description"], server["description"]);
    // The registry's limit.
    assert!(server["description"].as_str().unwrap().len() <= 100);
}

#[test]
fn manifest_lists_the_default_dialect_s_tools() {
    let output = slipstitch().args(["tools", "--json"]).output().unwrap();
    let tools: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&read("manifest.json")["tools"]), names(&tools["tools"]));
}

#[test]
fn manifest_arguments_are_accepted_by_the_program() {
    let manifest = read("manifest.json");
    let config = &manifest["server"]["mcp_config"];
    let entry = manifest["server"]["entry_point"].as_str().unwrap();
    assert_eq!(config["command"], format!("${{__dirname}}/{entry}"));
    let fill_in = |argument: &Value| {
        let argument = argument.as_str().unwrap();
        let setting = argument.strip_prefix("${user_config.").and_then(|rest| rest.strip_suffix('}'));
        let Some(setting) = setting else { return argument.to_owned() };
        let setting = &manifest["user_config"][setting];
        assert!(setting.is_object(), "{argument} is not in user_config");
        setting["default"].as_str().unwrap_or(".").to_owned()
    };
    let arguments: Vec<String> = config["args"].as_array().unwrap().iter().map(fill_in).collect();
    assert!(accepts(&arguments), "{arguments:?}");
    let wrong = [arguments, vec!["--no-such-option".into()]].concat();
    assert!(!accepts(&wrong), "an unknown option must be rejected");
}

#[test]
fn manifest_names_every_dialect() {
    let manifest = read("manifest.json");
    let text = manifest["user_config"]["dialect"]["description"].as_str().unwrap();
    for dialect in BUILTIN {
        assert!(text.contains(dialect.name), "{} is missing", dialect.name);
    }
}

#[test]
fn registry_arguments_are_accepted_by_the_program() {
    let server = read("server.json");
    let package = &server["packages"][0];
    assert_eq!(package["transport"]["type"], "stdio");
    let mut arguments = Vec::new();
    for argument in package["packageArguments"].as_array().unwrap() {
        let text = |field: &str| argument[field].as_str().map(str::to_owned);
        arguments.extend(text("name"));
        arguments.push(text("value").or(text("default")).unwrap_or(".".into()));
        for choice in argument["choices"].as_array().into_iter().flatten() {
            let one = ["mcp".into(), text("name").unwrap(), choice.as_str().unwrap().into()];
            assert!(accepts(&one), "{one:?}");
        }
    }
    assert_eq!(arguments[0], "mcp");
    assert!(accepts(&arguments), "{arguments:?}");
    let (space, name) = server["name"].as_str().unwrap().split_once('/').unwrap();
    assert!(space.contains('.') && name == "slipstitch");
}

#[test]
fn bundle_contains_the_program_and_its_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let url = "https://downloads.example/slipstitch.mcpb";
    let made = Command::new(repository().join("scripts/bundle-mcp"))
        .env("PROGRAM", assert_cmd::cargo::cargo_bin!("slipstitch"))
        .env("CARGO_TARGET_DIR", folder.path())
        .arg(url)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let listing = String::from_utf8(made.stdout).unwrap();
    let bundle = listing.lines().next().unwrap();
    let list = Command::new("python3").args(["-m", "zipfile", "-l", bundle]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    for name in ["manifest.json", "server/slipstitch", "LICENSE-MIT"] {
        assert!(list.contains(name), "{list}");
    }
    let server: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("mcpb/server.json")).unwrap()).unwrap();
    assert_eq!(server["packages"][0]["identifier"], url);
    assert_eq!(server["packages"][0]["fileSha256"].as_str().unwrap().len(), 64);
}

#[test]
fn every_dialect_is_documented_with_its_tools() {
    let reference = document("docs/reference.md");
    for dialect in BUILTIN {
        let tools = quote_names(dialect.tools.iter().map(|tool| tool.name));
        let row = format!("| `{}` | {tools} |", dialect.name);
        for name in ["README.md", "docs/reference.md"] {
            assert!(document(name).contains(&row), "{name} lacks the row {row}");
        }
        let heading = format!("\n### `{}`\n", dialect.name);
        assert!(reference.contains(&heading), "docs/reference.md has no section for `{}`", dialect.name);
    }
}

#[test]
fn recovering_dialects_are_documented() {
    let recovering: Vec<&str> =
        BUILTIN.iter().filter(|dialect| recovers(dialect)).map(|dialect| dialect.name).collect();
    let sentence = format!("The dialects {}", quote_and(&recovering));
    for name in ["docs/reference.md", "docs/recovery.md"] {
        assert!(document(name).contains(&sentence), "{name} does not say: {sentence}");
    }
}

/// Whether a tool of the dialect finds imperfect text, as its example shows.
fn recovers(dialect: &Dialect) -> bool {
    let settings = Settings::default();
    dialect.tools.iter().any(|tool| {
        let call = serde_json::from_str(tool.example).unwrap();
        match dialect.parse(tool, call, &[], &settings) {
            Ok(Plan::Edit(plan)) => plan.rules.tolerance == Tolerance::Recover,
            _ => false,
        }
    })
}

#[test]
fn every_code_is_documented() {
    let reference = document("docs/reference.md");
    let reasons = Unplaced::ALL.iter().map(|reason| reason.code());
    let reasons = reasons.chain(Refused::ALL.iter().map(|reason| reason.code()));
    let reasons = reasons.chain(Invalid::ALL.iter().map(|reason| reason.code()));
    let reasons = reasons.chain(Failed::ALL.iter().map(|reason| reason.code()));
    let missing: Vec<&str> = reasons.filter(|code| !reference.contains(&format!("`{code}`"))).collect();
    assert_eq!(missing, [""; 0], "docs/reference.md lacks these codes");
}

fn document(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).unwrap()
}

#[test]
fn every_tool_is_exercised_by_a_fixture() {
    for dialect in BUILTIN {
        let folder = repository().join("fixtures").join(dialect.name);
        let cases = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("the dialect `{}` has no fixtures: {error}", dialect.name));
        let cases: Vec<String> =
            cases.map(|case| std::fs::read_to_string(case.unwrap().path()).unwrap()).collect();
        for tool in dialect.tools {
            let call = format!("\"tool\": \"{}\"", tool.name);
            let found = cases.iter().any(|case| case.contains(&call));
            assert!(found, "no fixture in {} calls `{}`", folder.display(), tool.name);
        }
    }
}

#[test]
fn every_published_crate_has_the_licence_files() {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let original = std::fs::read(repository().join(name)).unwrap();
        for folder in std::fs::read_dir(repository().join("crates")).unwrap() {
            let folder = folder.unwrap().path();
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            if manifest.contains("publish = false") {
                continue;
            }
            let copy = std::fs::read(folder.join(name)).unwrap_or_default();
            assert!(copy == original, "{} differs from {name} in the root", folder.join(name).display());
            assert!(folder.join("README.md").exists(), "{} has no README.md", folder.display());
        }
    }
}
