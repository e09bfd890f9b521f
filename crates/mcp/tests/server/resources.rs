//! The journal as resources.

use rmcp::model::{
    ReadResourceRequestParams, ResourceContents, ServerNotification, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use serde_json::{Value, json};
use slipstitch_mcp::{Options, RootSource};

use crate::rig::{Client, ERAS, Era, Heard, Person, Rig, SOON, edit};

async fn read(client: &Client, uri: &str) -> String {
    let read = client.service.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    match &read.contents[0] {
        ResourceContents::TextResourceContents { text, .. } => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn changes_are_listed_and_shown() {
    for era in ERAS {
        let rig = Rig::with(&[("a.txt", "one\n")]);
        let client = rig.connect("native", era).await;
        let listed = client.service.list_all_resources().await.unwrap();
        assert_eq!(listed[0].uri, "slipstitch://changes");
        let templates = client.service.list_all_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "slipstitch://changes/{id}");
        client.call("edit_file", edit("a.txt", "one", "two")).await;
        let list: Value = serde_json::from_str(&read(&client, "slipstitch://changes").await).unwrap();
        let id = list["changes"][0]["id"].as_str().unwrap().to_owned();
        assert_eq!(list["changes"][0]["agent"], "rig");
        let diff = read(&client, &format!("slipstitch://changes/{id}")).await;
        assert!(diff.contains("-one\n+two"), "{diff}");
        for uri in ["slipstitch://changes/c999", "slipstitch://changes/nope", "file:///etc/passwd"] {
            let error = client.service.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap_err();
            assert!(error.to_string().contains(uri), "{error}");
        }
    }
}

#[tokio::test]
async fn clients_of_the_older_protocol_hear_of_changes() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut client = rig.connect("native", Era::Handshake).await;
    let error = client.service.subscribe(SubscribeRequestParams::new("file:///x")).await.unwrap_err();
    assert!(error.to_string().contains("file:///x"), "{error}");
    client.service.subscribe(SubscribeRequestParams::new("slipstitch://changes")).await.unwrap();
    client.service.subscribe(SubscribeRequestParams::new("slipstitch://changes/c1")).await.unwrap();
    client.call("edit_file", edit("a.txt", "one", "two")).await;
    heard(&mut client, "slipstitch://changes").await;
    // By another process, and about the change that it takes back.
    rig.workspace(&client.session).call("native", "undo_edit", json!({}));
    heard(&mut client, "slipstitch://changes/c1").await;
    for uri in ["slipstitch://changes", "slipstitch://changes/c1"] {
        client.service.unsubscribe(UnsubscribeRequestParams::new(uri)).await.unwrap();
    }
    while client.heard.try_recv().is_ok() {}
    client.call("edit_file", edit("a.txt", "one", "two")).await;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    assert!(client.heard.try_recv().is_err(), "it wants to hear of nothing");
}

/// Waits until the client hears of a resource; it may hear of others before.
async fn heard(client: &mut Client, uri: &str) {
    loop {
        match client.hears().await {
            Heard::Updated(updated) if updated == uri => return,
            Heard::Updated(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// After the folders have changed, nobody makes a call that would open the new ones.
#[tokio::test]
async fn subscriptions_go_on_in_the_folder_that_the_client_names_next() {
    let rig = Rig::new();
    let (one, two) = (rig.folder("one"), rig.folder("two"));
    let uri = |folder: &std::path::Path| format!("file://{}", folder.display());
    let options = Options { roots: RootSource::default(), ..rig.options("native") };
    let person = Person::with_roots(&[uri(&one)]);
    let mut client = Client::connect(options, person.clone(), Era::Handshake).await;
    client.service.subscribe(SubscribeRequestParams::new("slipstitch://changes")).await.unwrap();
    let write = |folder: &std::path::Path, path: &str| {
        let done = rig.workspace_at(folder, "x").call(
            "native",
            "write_file",
            json!({"path": path, "content": "x", "mode": "create"}),
        );
        assert!(done.report.is_success(), "{}", done.text);
    };
    write(&one, "a.txt");
    heard(&mut client, "slipstitch://changes").await;
    *person.roots.as_ref().unwrap().lock().unwrap() = vec![uri(&two)];
    client.service.notify_roots_list_changed().await.unwrap();
    // The list is another at once: that of the new folder.
    heard(&mut client, "slipstitch://changes").await;
    assert_eq!(read(&client, "slipstitch://changes").await, r#"{"changes":[]}"#);
    write(&two, "b.txt");
    heard(&mut client, "slipstitch://changes").await;
    write(&one, "c.txt");
    tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
    assert!(client.heard.try_recv().is_err(), "the other folder is none of its business any more");
}

#[tokio::test]
async fn clients_of_the_newer_protocol_listen_for_changes() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let client = rig.connect("native", Era::Stateless).await;
    let filter =
        SubscriptionFilter::builder().resource_subscriptions(["slipstitch://changes", "file:///x"]).build();
    let mut subscription = client.service.listen(filter).await.unwrap();
    let accepted = subscription.acknowledged().resource_subscriptions.clone();
    assert_eq!(accepted, Some(vec!["slipstitch://changes".to_owned()]), "only what is there");
    client.call("edit_file", edit("a.txt", "one", "two")).await;
    let heard = tokio::time::timeout(SOON, subscription.next()).await.unwrap().unwrap().unwrap();
    let ServerNotification::ResourceUpdatedNotification(updated) = heard else { panic!("{heard:?}") };
    assert_eq!(updated.params.uri, "slipstitch://changes");
    subscription.cancel().await.unwrap();
}
