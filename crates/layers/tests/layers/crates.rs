//! The order of the crates.

/// The layers from the bottom to the top. A crate may depend on crates of lower layers only; crates of one layer do not
/// depend on each other.
const LAYERS: &[&[&str]] = &[
    &["slipstitch-text", "slipstitch-tokens", "slipstitch-macos-acl"],
    &["slipstitch-platform"],
    &["slipstitch-patch"],
    &["slipstitch-core"],
    &["slipstitch-dialects"],
    &["slipstitch-editors"],
    &["slipstitch"],
    &["slipstitch-mcp", "slipstitch-install", "slipstitch-review"],
    &["slipstitch-cli"],
    &["slipstitch-rigs"],
    &["slipstitch-layers"],
];

/// A crate and the crates that it depends on.
pub(crate) struct Manifest {
    name: String,
    dependencies: Vec<String>,
}

impl Manifest {
    /// Reads the name and the normal dependencies. Development dependencies may point upwards: Cargo allows it, and tests
    /// and documentation examples of a lower layer need it.
    pub(crate) fn parse(text: &str) -> Self {
        let manifest: toml::Table = text.parse().expect("a manifest is TOML");
        let mut dependencies = Vec::new();
        collect_dependencies(&manifest, &mut dependencies);
        for target in
            manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(|t| t.values())
        {
            collect_dependencies(target.as_table().expect("a target is a table"), &mut dependencies);
        }
        let name = manifest["package"]["name"].as_str().expect("a package has a name").to_owned();
        Self { name, dependencies }
    }
}

fn collect_dependencies(table: &toml::Table, found: &mut Vec<String>) {
    for section in ["dependencies", "build-dependencies"] {
        let table = table.get(section).and_then(toml::Value::as_table);
        for (key, value) in table.into_iter().flatten() {
            let package = value.get("package").and_then(toml::Value::as_str);
            found.push(package.unwrap_or(key).to_owned());
        }
    }
}

/// The dependencies that do not point downwards, and the crates that have no layer.
pub(crate) fn check(manifests: &[Manifest]) -> Vec<String> {
    let layer = |name: &str| LAYERS.iter().position(|crates| crates.contains(&name));
    let mut problems = Vec::new();
    for Manifest { name, dependencies } in manifests {
        let Some(own) = layer(name) else {
            problems.push(format!("`{name}` is not in LAYERS: add it to the layer that it belongs to"));
            continue;
        };
        let upwards = dependencies.iter().filter(|other| layer(other).is_some_and(|other| other >= own));
        problems.extend(upwards.map(|other| format!("`{name}` depends on `{other}`, which is not below it")));
    }
    problems
}

#[test]
fn rejects_a_dependency_on_a_higher_layer() {
    let parse = |dependencies: &str| {
        Manifest::parse(&format!("[package]\nname = \"slipstitch-core\"\n{dependencies}"))
    };
    for allowed in [
        "[dependencies]\nslipstitch-text.workspace = true",
        "[dev-dependencies]\nslipstitch.workspace = true",
    ] {
        assert_eq!(check(&[parse(allowed)]), [""; 0], "{allowed}");
    }
    for refused in [
        "[dependencies]\nslipstitch.workspace = true",
        "[dependencies]\nengine = { package = \"slipstitch\", version = \"1\" }",
        "[target.'cfg(unix)'.dependencies]\nslipstitch = { workspace = true }",
    ] {
        assert_eq!(
            check(&[parse(refused)]),
            ["`slipstitch-core` depends on `slipstitch`, which is not below it"]
        );
    }
}

#[test]
fn rejects_a_crate_without_a_layer() {
    let stray = Manifest::parse("[package]\nname = \"stray\"");
    assert_eq!(check(&[stray]), ["`stray` is not in LAYERS: add it to the layer that it belongs to"]);
}
