//! What a release contains besides the program: installers and manifests, made by the scripts in `packaging/release`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const STATIC_BUILD: &str = "x86_64-unknown-linux-musl";
const TARGETS: &[&str] = &[
    STATIC_BUILD,
    "aarch64-unknown-linux-musl",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-gnu",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn python(script: &str, arguments: &[&str]) -> String {
    let script = repository().join("packaging/release").join(script);
    let output =
        Command::new("python3").arg(script).args(arguments).current_dir(repository()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with archives of a program that only prints its version, and everything made from them.
struct Release(tempfile::TempDir);

impl Release {
    fn of(targets: &[&str]) -> (Self, String) {
        use std::os::unix::fs::PermissionsExt;
        let release = Self(tempfile::tempdir().unwrap());
        let made = release.at("made");
        fs::create_dir(&made).unwrap();
        for target in targets {
            let folder = release.at(&format!("slipstitch-{VERSION}-{target}"));
            fs::create_dir_all(folder.join("man")).unwrap();
            fs::write(folder.join("man/slipstitch.1"), "manual\n").unwrap();
            let program = folder.join("slipstitch");
            fs::write(&program, format!("#!/bin/sh\necho slipstitch {VERSION}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let extension = if target.contains("windows") { "zip" } else { "tar.gz" };
            let archive = made.join(format!("slipstitch-{VERSION}-{target}.{extension}"));
            python("archive.py", &[folder.to_str().unwrap(), archive.to_str().unwrap()]);
        }
        let made = made.to_str().unwrap();
        let fixed = [made, VERSION, "https://home.example", "https://files.example"];
        let said = python("manifests.py", &[&fixed, targets].concat());
        (release, said)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at("made").join(name)).unwrap()
    }

    /// The checksum of an archive in the list.
    fn checksum(&self, target: &str) -> String {
        let sums = self.text("SHA256SUMS");
        let line = sums.lines().find(|line| line.contains(&format!("-{target}."))).unwrap();
        line[..64].to_owned()
    }

    fn install(&self) -> Output {
        Command::new("sh")
            .arg(self.at("made/install.sh"))
            .env("HOME", self.at("home"))
            .env("SLIPSTITCH_PREFIX", self.at("prefix"))
            .env("SLIPSTITCH_TARGET", STATIC_BUILD)
            .env("SLIPSTITCH_URL", format!("file://{}", self.at("made").display()))
            .output()
            .unwrap()
    }
}

#[test]
fn manifests_have_the_archives_and_their_checksums() {
    let (release, _) = Release::of(TARGETS);
    let formula = release.text("slipstitch.rb");
    for target in &TARGETS[..4] {
        let expected = format!(
            "url \"https://files.example/slipstitch-{VERSION}-{target}.tar.gz\"\n      sha256 \"{}\"",
            release.checksum(target)
        );
        assert!(formula.contains(&expected), "{expected} is missing: {formula}");
    }
    let scoop: serde_json::Value = serde_json::from_str(&release.text("slipstitch.json")).unwrap();
    assert_eq!(scoop["version"], VERSION);
    assert_eq!(scoop["architecture"]["64bit"]["hash"], release.checksum("x86_64-pc-windows-gnu"));
    for name in ["slipstitch.rb", "slipstitch.json", "install.sh", "install.ps1"] {
        let text = release.text(name);
        let left = text
            .match_indices('@')
            .find(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_uppercase()));
        assert_eq!(left, None, "a placeholder is left in {name}");
    }
}

#[test]
fn a_manifest_without_its_archive_is_not_written() {
    let (release, said) = Release::of(&[STATIC_BUILD]);
    for name in ["slipstitch.rb", "slipstitch.json"] {
        assert!(said.contains(&format!("{name} is not written")), "{said}");
        assert!(!release.at("made").join(name).exists());
    }
    assert!(release.at("made/install.sh").exists());
}

#[test]
fn the_same_files_give_the_same_archive() {
    let (first, second) = (Release::of(&[STATIC_BUILD]).0, Release::of(&[STATIC_BUILD]).0);
    assert_eq!(first.checksum(STATIC_BUILD), second.checksum(STATIC_BUILD));
}

#[test]
fn the_installer_installs_what_the_checksum_says() {
    let (release, _) = Release::of(&[STATIC_BUILD]);
    let output = release.install();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        release.at("prefix/bin/slipstitch").exists()
            && release.at("prefix/share/man/man1/slipstitch.1").exists()
    );
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains(&format!("{}/bin/slipstitch", release.at("prefix").display())), "{said}");
}

#[test]
fn the_installer_refuses_a_changed_archive() {
    let (release, _) = Release::of(&[STATIC_BUILD]);
    let archive = release.at("made").join(format!("slipstitch-{VERSION}-{STATIC_BUILD}.tar.gz"));
    let mut bytes = fs::read(&archive).unwrap();
    bytes.push(0);
    fs::write(&archive, bytes).unwrap();
    let output = release.install();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("the checksum of"), "{error}");
    assert!(!release.at("prefix").exists(), "nothing is installed");
}

#[test]
fn the_installer_refuses_an_archive_that_is_not_listed() {
    let (release, _) = Release::of(&[STATIC_BUILD]);
    fs::write(release.at("made/SHA256SUMS"), "").unwrap();
    let output = release.install();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("SHA256SUMS has no line"), "{error}");
    assert!(!release.at("prefix").exists(), "nothing is installed");
}
