//! The folder that a client works in.

use std::sync::atomic::Ordering;

use serde_json::json;
use slipstitch_mcp::{Options, RootSource, ServeError, Server};

use crate::rig::{Client, Era, Person, Rig, failed, text};

/// Options of a server that was told no root.
fn rootless(rig: &Rig) -> Options {
    Options { roots: RootSource::default(), ..rig.options("native") }
}

fn uri(folder: &std::path::Path) -> String {
    format!("file://{}", folder.display())
}

#[tokio::test]
async fn the_client_names_the_folder_if_the_server_was_told_none() {
    let rig = Rig::new();
    let (one, two) = (rig.folder("one"), rig.folder("two"));
    std::fs::write(one.join("a.txt"), "in one\n").unwrap();
    std::fs::write(two.join("a.txt"), "in two\n").unwrap();
    let person = Person::with_roots(&[uri(&one)]);
    let client = Client::connect(rootless(&rig), person.clone(), Era::Handshake).await;
    let read = json!({"path": "a.txt"});
    assert!(text(&client.call("read_file", read.clone()).await).contains("in one"));
    let outside = client.call("read_file", json!({"path": two.join("a.txt")})).await;
    assert!(failed(&outside), "{}", text(&outside));
    *person.roots.as_ref().unwrap().lock().unwrap() = vec![uri(&two)];
    client.service.notify_roots_list_changed().await.unwrap();
    let moved = async { while !text(&client.call("read_file", read.clone()).await).contains("in two") {} };
    tokio::time::timeout(crate::rig::SOON, moved).await.expect("the new folder counts");
}

#[tokio::test]
async fn a_client_may_name_several_folders() {
    let rig = Rig::new();
    let (one, two) = (rig.folder("one"), rig.folder("two"));
    std::fs::write(two.join("b.txt"), "in two\n").unwrap();
    let person = Person::with_roots(&[uri(&one), uri(&two)]);
    let client = Client::connect(rootless(&rig), person, Era::Handshake).await;
    assert!(text(&client.call("read_file", json!({"path": two.join("b.txt")})).await).contains("in two"));
    let edit = json!({"path": two.join("b.txt"), "old_text": "in two", "new_text": "changed"});
    assert!(!failed(&client.call("edit_file", edit).await));
    assert_eq!(std::fs::read_to_string(two.join("b.txt")).unwrap(), "changed\n");
}

#[tokio::test]
async fn a_client_that_names_no_folder_at_first_may_name_one_later() {
    let rig = Rig::new();
    let one = rig.folder("one");
    std::fs::write(one.join("a.txt"), "in one\n").unwrap();
    let person = Person::with_roots(&[]);
    let client = Client::connect(rootless(&rig), person.clone(), Era::Handshake).await;
    let here = client.call("read_file", json!({"path": "Cargo.toml"})).await;
    assert!(text(&here).contains("slipstitch-mcp"), "the working folder: {}", text(&here));
    *person.roots.as_ref().unwrap().lock().unwrap() = vec![uri(&one)];
    client.service.notify_roots_list_changed().await.unwrap();
    let read = json!({"path": "a.txt"});
    let moved = async {
        while !text(&client.call("read_file", read.clone()).await).contains("in one") {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(crate::rig::SOON, moved).await.expect("the folder that was named counts");
    let outside = client.call("read_file", json!({"path": "Cargo.toml"})).await;
    assert!(failed(&outside), "{}", text(&outside));
}

#[tokio::test]
async fn a_client_that_fails_to_name_its_folder_gets_none_until_it_does() {
    let rig = Rig::new();
    let one = rig.folder("one");
    std::fs::write(one.join("Cargo.toml"), "in one\n").unwrap();
    let person = Person::with_roots(&[uri(&one)]);
    person.mute.store(true, Ordering::SeqCst);
    let client = Client::connect(rootless(&rig), person.clone(), Era::Handshake).await;
    let read = json!({"path": "Cargo.toml"});
    let refused = client.call("read_file", read.clone()).await;
    assert!(failed(&refused), "{}", text(&refused));
    for part in ["not now", "--root"] {
        assert!(text(&refused).contains(part), "{}", text(&refused));
    }
    person.mute.store(false, Ordering::SeqCst);
    assert!(text(&client.call("read_file", read).await).contains("in one"), "it is asked again");
}

#[tokio::test]
async fn what_the_server_was_told_counts_before_what_the_client_says() {
    let rig = Rig::with(&[("a.txt", "in root\n")]);
    let elsewhere = rig.folder("elsewhere");
    let person = Person::with_roots(&[uri(&elsewhere)]);
    let client = Client::connect(rig.options("native"), person, Era::Handshake).await;
    assert!(text(&client.call("read_file", json!({"path": "a.txt"})).await).contains("in root"));
}

#[tokio::test]
async fn folders_that_cannot_be_used_are_told_with_the_next_step() {
    let rig = Rig::new();
    let one = rig.folder("one");
    for (roots, part) in [
        (vec!["https://example.com/".to_owned()], "https://example.com/"),
        (vec![uri(&one.join("missing"))], "missing"),
        (vec![uri(&one), uri(&one.join("missing"))], "missing"),
    ] {
        let client = Client::connect(rootless(&rig), Person::with_roots(&roots), Era::Handshake).await;
        let refused = client.call("read_file", json!({"path": "a.txt"})).await;
        assert!(failed(&refused) && text(&refused).contains(part), "{}", text(&refused));
        assert!(text(&refused).contains("--root"), "{}", text(&refused));
    }
}

#[tokio::test]
async fn a_server_with_a_wrong_folder_does_not_start() {
    let rig = Rig::new();
    let missing = rig.options("native").with_root(rig.root().join("missing"));
    let error = Server::new(missing).unwrap_err();
    assert!(matches!(error, ServeError::Roots(_)) && error.hint().contains("--root"), "{error}");
}
