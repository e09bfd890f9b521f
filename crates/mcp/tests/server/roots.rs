//! How the root is chosen.

use std::sync::atomic::Ordering;

use serde_json::json;
use slipstitch_mcp::{Options, RootSource, ServeError, Server};

use crate::harness::{Client, Era, TIMEOUT, TestProject, TestUser, folder_uri, is_error, text};

/// Options of a server without a root.
fn options_without_root(project: &TestProject) -> Options {
    Options { roots: RootSource::default(), ..project.options("native") }
}

#[tokio::test]
async fn uses_the_client_roots_if_the_server_has_none() {
    let project = TestProject::new();
    let (one, two) = (project.create_folder("one"), project.create_folder("two"));
    std::fs::write(one.join("a.txt"), "in one\n").unwrap();
    std::fs::write(two.join("a.txt"), "in two\n").unwrap();
    let user = TestUser::with_roots(&[folder_uri(&one)]);
    let client = Client::connect(options_without_root(&project), user.clone(), Era::Handshake).await;
    let read = json!({"path": "a.txt"});
    assert!(text(&client.call("read_file", read.clone()).await).contains("in one"));
    let outside = client.call("read_file", json!({"path": two.join("a.txt")})).await;
    assert!(is_error(&outside), "{}", text(&outside));
    user.set_roots(&[folder_uri(&two)]);
    client.service.notify_roots_list_changed().await.unwrap();
    let moved = async { while !text(&client.call("read_file", read.clone()).await).contains("in two") {} };
    tokio::time::timeout(TIMEOUT, moved).await.expect("the new root is used");
}

#[tokio::test]
async fn a_client_can_have_several_roots() {
    let project = TestProject::new();
    let (one, two) = (project.create_folder("one"), project.create_folder("two"));
    std::fs::write(two.join("b.txt"), "in two\n").unwrap();
    let user = TestUser::with_roots(&[folder_uri(&one), folder_uri(&two)]);
    let client = Client::connect(options_without_root(&project), user, Era::Handshake).await;
    assert!(text(&client.call("read_file", json!({"path": two.join("b.txt")})).await).contains("in two"));
    let edit = json!({"path": two.join("b.txt"), "old_text": "in two", "new_text": "changed"});
    assert!(!is_error(&client.call("edit_file", edit).await));
    assert_eq!(std::fs::read_to_string(two.join("b.txt")).unwrap(), "changed\n");
}

#[tokio::test]
async fn a_client_without_roots_can_add_one_later() {
    let project = TestProject::new();
    let one = project.create_folder("one");
    std::fs::write(one.join("a.txt"), "in one\n").unwrap();
    let user = TestUser::with_roots(&[]);
    let client = Client::connect(options_without_root(&project), user.clone(), Era::Handshake).await;
    let here = client.call("read_file", json!({"path": "Cargo.toml"})).await;
    assert!(text(&here).contains("slipstitch-mcp"), "the working directory: {}", text(&here));
    user.set_roots(&[folder_uri(&one)]);
    client.service.notify_roots_list_changed().await.unwrap();
    let read = json!({"path": "a.txt"});
    let moved = async {
        while !text(&client.call("read_file", read.clone()).await).contains("in one") {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, moved).await.expect("the new root is used");
    let outside = client.call("read_file", json!({"path": "Cargo.toml"})).await;
    assert!(is_error(&outside), "{}", text(&outside));
}

#[tokio::test]
async fn refuses_calls_until_the_client_lists_its_roots() {
    let project = TestProject::new();
    let one = project.create_folder("one");
    std::fs::write(one.join("Cargo.toml"), "in one\n").unwrap();
    let user = TestUser::with_roots(&[folder_uri(&one)]);
    user.fails_to_list_roots.store(true, Ordering::SeqCst);
    let client = Client::connect(options_without_root(&project), user.clone(), Era::Handshake).await;
    let read = json!({"path": "Cargo.toml"});
    let refused = client.call("read_file", read.clone()).await;
    assert!(is_error(&refused), "{}", text(&refused));
    for part in ["not now", "--root"] {
        assert!(text(&refused).contains(part), "{}", text(&refused));
    }
    user.fails_to_list_roots.store(false, Ordering::SeqCst);
    assert!(text(&client.call("read_file", read).await).contains("in one"), "the client is asked again");
}

#[tokio::test]
async fn the_server_root_takes_precedence_over_the_client_roots() {
    let project = TestProject::with_files(&[("a.txt", "in root\n")]);
    let elsewhere = project.create_folder("elsewhere");
    let user = TestUser::with_roots(&[folder_uri(&elsewhere)]);
    let client = Client::connect(project.options("native"), user, Era::Handshake).await;
    assert!(text(&client.call("read_file", json!({"path": "a.txt"})).await).contains("in root"));
}

#[tokio::test]
async fn unusable_client_roots_are_reported_with_a_hint() {
    let project = TestProject::new();
    let one = project.create_folder("one");
    for (roots, part) in [
        (vec!["https://example.com/".to_owned()], "https://example.com/"),
        (vec![folder_uri(&one.join("missing"))], "missing"),
        (vec![folder_uri(&one), folder_uri(&one.join("missing"))], "missing"),
    ] {
        let client =
            Client::connect(options_without_root(&project), TestUser::with_roots(&roots), Era::Handshake)
                .await;
        let refused = client.call("read_file", json!({"path": "a.txt"})).await;
        assert!(is_error(&refused) && text(&refused).contains(part), "{}", text(&refused));
        assert!(text(&refused).contains("--root"), "{}", text(&refused));
    }
}

#[tokio::test]
async fn does_not_start_with_a_missing_root() {
    let project = TestProject::new();
    let missing = project.options("native").with_root(project.root().join("missing"));
    let error = Server::new(missing).unwrap_err();
    assert!(matches!(error, ServeError::Roots(_)) && error.hint().contains("--root"), "{error}");
}
