//! The journal as resources.

use rmcp::model::{
    ReadResourceRequestParams, ResourceContents, ServerNotification, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use serde_json::{Value, json};
use slipstitch::core::ports::journal::ProposalId;
use slipstitch_mcp::{Options, RootSource};

use crate::harness::{
    Client, ClientEvent, ERAS, Era, TIMEOUT, TestProject, TestUser, edit, folder_uri, text,
};

async fn read_resource(client: &Client, uri: &str) -> String {
    let read = client.service.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    match &read.contents[0] {
        ResourceContents::TextResourceContents { text, .. } => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn lists_changes_and_shows_their_diffs() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "one\n")]);
        let client = project.connect("native", era).await;
        let listed = client.service.list_all_resources().await.unwrap();
        assert_eq!(listed[0].uri, "slipstitch://changes");
        let templates = client.service.list_all_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "slipstitch://changes/{id}");
        client.call("edit_file", edit("a.txt", "one", "two")).await;
        let list: Value =
            serde_json::from_str(&read_resource(&client, "slipstitch://changes").await).unwrap();
        let id = list["changes"][0]["id"].as_str().unwrap().to_owned();
        assert_eq!(list["changes"][0]["agent"], "test-client");
        let diff = read_resource(&client, &format!("slipstitch://changes/{id}")).await;
        assert!(diff.contains("-one\n+two"), "{diff}");
        for uri in ["slipstitch://changes/c999", "slipstitch://changes/nope", "file:///etc/passwd"] {
            let error = client.service.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap_err();
            assert!(error.to_string().contains(uri), "{error}");
        }
    }
}

#[tokio::test]
async fn anyone_can_ask_by_its_id_what_came_of_a_proposal() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "one\n")]);
        let client = Client::connect(project.options("agent-q"), TestUser::without_forms(), era).await;
        let proposal = json!({"path": "a.txt", "new_content": "two\n", "description": "count"});
        client.call("propose_file_edit", proposal.clone()).await;
        let ask = async |id: &str| -> Value {
            let text = read_resource(&client, &format!("slipstitch://proposals/{id}")).await;
            assert!(!text.contains("slipstitch review"), "nothing that an agent could run itself: {text}");
            serde_json::from_str(&text).unwrap()
        };
        let waiting = ask("p1").await;
        assert_eq!((&waiting["state"], &waiting["files"]), (&json!("pending"), &json!(["a.txt"])));
        let workspace = project.workspace("x");
        let ada = workspace.reviewer("Ada", None).unwrap();
        assert!(workspace.reject(ProposalId(1), &ada, Some("keep it")).is_success());
        let rejected = ask("p1").await;
        assert_eq!((&rejected["state"], &rejected["reason"]), (&json!("rejected"), &json!("keep it")));
        // The same call gets the same decision; one with another description is a new request.
        for _ in 0..2 {
            let again = client.call("propose_file_edit", proposal.clone()).await;
            assert!(text(&again).contains("keep it"), "{}", text(&again));
        }
        let mut other = proposal.clone();
        other["description"] = json!("once more");
        client.call("propose_file_edit", other).await;
        assert!(workspace.accept(ProposalId(2), &ada).is_success());
        let accepted = ask("p2").await;
        assert_eq!((&accepted["state"], &accepted["change"]), (&json!("accepted"), &json!("c1")));
        assert!(accepted["message"].as_str().unwrap().contains("accepted by Ada"), "{accepted}");
        for uri in ["slipstitch://proposals/p9", "slipstitch://proposals/c1"] {
            let error = client.service.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap_err();
            assert!(error.to_string().contains(uri), "{error}");
        }
    }
}

#[tokio::test]
async fn notifies_clients_of_the_older_protocol() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut client = project.connect("native", Era::Handshake).await;
    for uri in ["file:///x", "slipstitch://proposals", "slipstitch://proposals/1"] {
        let error = client.service.subscribe(SubscribeRequestParams::new(uri)).await.unwrap_err();
        assert!(error.to_string().contains(uri), "{error}");
    }
    client.service.subscribe(SubscribeRequestParams::new("slipstitch://changes")).await.unwrap();
    client.service.subscribe(SubscribeRequestParams::new("slipstitch://changes/c1")).await.unwrap();
    client.call("edit_file", edit("a.txt", "one", "two")).await;
    wait_for_update(&mut client, "slipstitch://changes").await;
    // An undo by another process also updates the change that it undoes.
    project.workspace(&client.session).call("native", "undo_edit", json!({}));
    wait_for_update(&mut client, "slipstitch://changes/c1").await;
    for uri in ["slipstitch://changes", "slipstitch://changes/c1"] {
        client.service.unsubscribe(UnsubscribeRequestParams::new(uri)).await.unwrap();
    }
    while client.events.try_recv().is_ok() {}
    client.call("edit_file", edit("a.txt", "one", "two")).await;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    assert!(client.events.try_recv().is_err(), "it has no subscriptions");
}

#[tokio::test]
async fn notifies_clients_of_decisions() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let options = project.options("agent-q");
    let mut client = Client::connect(options, TestUser::without_forms(), Era::Handshake).await;
    for new in ["1\n", "2\n"] {
        client.call("propose_file_edit", json!({"path": "a.txt", "new_content": new})).await;
    }
    for uri in ["slipstitch://proposals/p1", "slipstitch://proposals/p2"] {
        client.service.subscribe(SubscribeRequestParams::new(uri)).await.unwrap();
    }
    let workspace = project.workspace("x");
    let ada = workspace.reviewer("Ada", None).unwrap();
    // The listener starts in the background.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(workspace.reject(ProposalId(2), &ada, None).is_success());
    wait_for_update(&mut client, "slipstitch://proposals/p2").await;
    assert!(workspace.accept(ProposalId(1), &ada).is_success());
    wait_for_update(&mut client, "slipstitch://proposals/p1").await;
    while client.events.try_recv().is_ok() {}
    client.call("propose_file_edit", json!({"path": "a.txt", "new_content": "3\n"})).await;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    assert!(client.events.try_recv().is_err(), "a proposal is no decision");
}

#[tokio::test]
async fn subscriptions_are_limited() {
    const LIMIT: usize = 100;
    let project = TestProject::new();
    let client = project.connect("native", Era::Handshake).await;
    let subscribe = async |n: usize| {
        client.service.subscribe(SubscribeRequestParams::new(format!("slipstitch://changes/c{n}"))).await
    };
    for n in 1..=LIMIT {
        subscribe(n).await.unwrap();
    }
    for n in LIMIT + 1..LIMIT + 50 {
        let error = subscribe(n).await.unwrap_err();
        assert!(error.to_string().contains("limit of 100 subscriptions"), "{error}");
    }
    subscribe(1).await.expect("it is subscribed already");
    client.service.unsubscribe(UnsubscribeRequestParams::new("slipstitch://changes/c1")).await.unwrap();
    subscribe(LIMIT + 1).await.expect("there is room again");
}

/// Waits until the client is notified about a resource; there may be others before.
async fn wait_for_update(client: &mut Client, uri: &str) {
    loop {
        match client.next_event().await {
            ClientEvent::ResourceUpdated(updated) if updated == uri => return,
            ClientEvent::ResourceUpdated(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// No call opens the new root after the change; the subscription has to.
#[tokio::test]
async fn subscriptions_follow_the_client_to_its_new_root() {
    let project = TestProject::new();
    let (one, two) = (project.create_folder("one"), project.create_folder("two"));
    let options = Options { roots: RootSource::default(), ..project.options("native") };
    let user = TestUser::with_roots(&[folder_uri(&one)]);
    let mut client = Client::connect(options, user.clone(), Era::Handshake).await;
    client.service.subscribe(SubscribeRequestParams::new("slipstitch://changes")).await.unwrap();
    let create_file = |folder: &std::path::Path, path: &str| {
        let answer = project.workspace_at(folder, "x").call(
            "native",
            "write_file",
            json!({"path": path, "content": "x", "mode": "create"}),
        );
        assert!(answer.report.is_success(), "{}", answer.text);
    };
    create_file(&one, "a.txt");
    wait_for_update(&mut client, "slipstitch://changes").await;
    user.set_roots(&[folder_uri(&two)]);
    client.service.notify_roots_list_changed().await.unwrap();
    // The list changes immediately: it is now the new root's.
    wait_for_update(&mut client, "slipstitch://changes").await;
    assert_eq!(read_resource(&client, "slipstitch://changes").await, r#"{"changes":[]}"#);
    create_file(&two, "b.txt");
    wait_for_update(&mut client, "slipstitch://changes").await;
    create_file(&one, "c.txt");
    tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
    assert!(client.events.try_recv().is_err(), "the old root is no longer watched");
}

#[tokio::test]
async fn notifies_clients_of_the_stateless_protocol() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let client = project.connect("native", Era::Stateless).await;
    let filter =
        SubscriptionFilter::builder().resource_subscriptions(["slipstitch://changes", "file:///x"]).build();
    let mut subscription = client.service.listen(filter).await.unwrap();
    let accepted = subscription.acknowledged().resource_subscriptions.clone();
    assert_eq!(accepted, Some(vec!["slipstitch://changes".to_owned()]), "only existing resources");
    client.call("edit_file", edit("a.txt", "one", "two")).await;
    let received = tokio::time::timeout(TIMEOUT, subscription.next()).await.unwrap().unwrap().unwrap();
    let ServerNotification::ResourceUpdatedNotification(updated) = received else { panic!("{received:?}") };
    assert_eq!(updated.params.uri, "slipstitch://changes");
    subscription.cancel().await.unwrap();
}
