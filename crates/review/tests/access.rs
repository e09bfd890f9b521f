//! Who can use the page, and what text from agents can do to it. Requests are written by hand, as an attacker would.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use slipstitch::Workspace;
use slipstitch_review::{Notice, PageOptions, Selection};

/// A page with one proposal whose every text is hostile, and one that changes a private file.
struct Page {
    folder: tempfile::TempDir,
    address: String,
    token: String,
    /// The addresses that were told later.
    urls: std::sync::mpsc::Receiver<String>,
    /// Stops the server.
    stop: tokio::sync::oneshot::Sender<()>,
    server: std::thread::JoinHandle<()>,
}

/// What a browser got for the token.
struct Browser {
    cookie: String,
    secret: String,
}

const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\"'";

impl Page {
    fn start() -> Self {
        Self::start_with(None, Selection::default())
    }

    fn start_with(passphrase: Option<&str>, selection: Selection) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("slipstitch.toml"), "[[rules]]\npaths = [\"**\"]\nverdict = \"ask\"\n")
            .unwrap();
        std::fs::write(root.join("<i>a.txt"), "one\n").unwrap();
        let open =
            Workspace::builder(&root).state_dir(folder.path().join("state")).agent(HOSTILE).open().unwrap();
        open.set_passphrase(None, passphrase).unwrap();
        let edit =
            json!({"path": "<i>a.txt", "old_text": "one", "new_text": HOSTILE, "description": HOSTILE});
        assert_eq!(open.call("native", "edit_file", edit).report.code(), "pending_review");
        std::fs::write(root.join(".env"), "KEY=1\n").unwrap();
        let secret = json!({"path": ".env", "old_text": "KEY=1", "new_text": "KEY=2"});
        assert_eq!(open.call("native", "edit_file", secret).report.code(), "pending_review");
        let (sender, receiver) = std::sync::mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let server = std::thread::spawn(move || {
            let notice = Notice::new(move |url, _| sender.send(url.to_owned()).unwrap());
            let options = PageOptions { port: 0, decided_by: "review page".into(), selection, notice };
            // A test that does not stop the server drops the sender.
            let stopped = async {
                if stopped.await.is_err() {
                    std::future::pending().await
                }
            };
            slipstitch_review::serve(Arc::new(open), options, stopped).unwrap();
        });
        let urls = receiver;
        let url = urls.recv_timeout(Duration::from_secs(20)).unwrap();
        let (address, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        Self { folder, address: address.to_owned(), token: token.to_owned(), urls, stop, server }
    }

    /// Sends one request and returns the whole answer.
    fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut request =
            format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Sends the token back, as the page at the printed address does.
    fn exchange(&self, token: &str) -> String {
        let origin = format!("http://{}", self.address);
        let form = ("Content-Type", "application/x-www-form-urlencoded");
        let headers = [("Host", self.address.as_str()), ("Origin", origin.as_str()), form];
        self.send("POST /", &headers, &format!("token={token}"))
    }

    /// Opens the page as a browser does.
    fn enter(&self) -> Browser {
        let answer = self.exchange(&self.token);
        assert_eq!(status(&answer), "200", "{answer}");
        let cookie = answer.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
        let secret = answer.split("data-secret=\"").nth(1).unwrap().split('"').next().unwrap();
        Browser { cookie: cookie.to_owned(), secret: secret.to_owned() }
    }

    /// The page for the next browser.
    fn for_next_browser(self) -> Self {
        let next = self.urls.recv_timeout(Duration::from_secs(20)).unwrap();
        let (_, token) = next.split_once("/?token=").unwrap();
        Self { token: token.to_owned(), ..self }
    }

    /// Sends a form of the page as a browser does, and returns the status.
    fn submit(&self, browser: &Browser, path: &str, fields: &str) -> String {
        status(&self.submit_for_answer(browser, path, fields)).to_owned()
    }

    fn submit_for_answer(&self, browser: &Browser, path: &str, fields: &str) -> String {
        let origin = format!("http://{}", self.address);
        let headers = [
            ("Host", self.address.as_str()),
            ("Cookie", browser.cookie.as_str()),
            ("Origin", origin.as_str()),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        let body = format!("{fields}&secret={}", browser.secret);
        self.send(&format!("POST {path}"), &headers, &body)
    }

    fn accept(&self, headers: &[(&str, &str)], secret: &str) -> String {
        let form = ("Content-Type", "application/x-www-form-urlencoded");
        let body = format!("action=accept&secret={secret}");
        self.send("POST /review/p1", &[headers, &[form]].concat(), &body)
    }

    fn is_unchanged(&self) -> bool {
        std::fs::read_to_string(self.folder.path().join("root/<i>a.txt")).unwrap() == "one\n"
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn only_the_token_opens_the_page_and_only_once() {
    let page = Page::start();
    let host = ("Host", page.address.as_str());
    assert_eq!(status(&page.send("GET /review", &[host], "")), "401");
    for path in
        ["/", "/?token=", "/?token=0", "/review?token=x", "/?token=%00", "/history", "/events", "/statistics"]
    {
        assert_eq!(status(&page.send(&format!("GET {path}"), &[host], "")), "401", "{path}");
    }
    for token in ["", "0", "%00"] {
        assert_eq!(status(&page.exchange(token)), "401", "{token}");
    }
    let entered = page.exchange(&page.token).to_lowercase();
    assert_eq!(status(&entered), "200");
    assert!(entered.contains("httponly") && entered.contains("samesite=strict"), "{entered}");
    assert!(!entered.contains(&page.token), "neither secret is the token: {entered}");
    assert_eq!(status(&page.exchange(&page.token)), "401", "used");
    assert_eq!(status(&page.send(&format!("GET /?token={}", page.token), &[host], "")), "401", "used");
    let page = page.for_next_browser();
    let host = ("Host", page.address.as_str());
    let browser = page.enter();
    let (name, value) = browser.cookie.split_once('=').unwrap();
    assert_ne!(value, browser.secret);
    assert_eq!(status(&page.send("GET /review", &[host, ("Cookie", &browser.cookie)], "")), "200");
    let wrong = [format!("{name}=wrong"), format!("{name}={}", browser.secret), format!("other={value}")];
    for cookie in wrong {
        assert_eq!(status(&page.send("GET /review", &[host, ("Cookie", &cookie)], "")), "401", "{cookie}");
    }
    // A name that leads to the loopback interface is not the server's.
    let rebound = page.address.replace("127.0.0.1", "evil.example");
    let headers = [("Host", rebound.as_str()), ("Cookie", &browser.cookie)];
    assert_eq!(status(&page.send("GET /review", &headers, "")), "421");
}

/// Browsers, virus scanners and chat programs read addresses that nobody has opened yet.
#[test]
fn reading_the_address_does_not_use_up_its_token() {
    let page = Page::start();
    let host = ("Host", page.address.as_str());
    for method in ["HEAD", "GET", "HEAD", "GET"] {
        let read = page.send(&format!("{method} /?token={}", page.token), &[host], "").to_lowercase();
        assert_eq!(status(&read), "200", "{method}");
        assert!(!read.contains("set-cookie"), "{method}: {read}");
    }
    // Another site cannot open it either.
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let body = format!("token={}", page.token);
    for origin in ["null", "http://evil.example"] {
        let answer = page.send("POST /", &[host, ("Origin", origin), form], &body);
        assert_eq!(status(&answer), "403", "{origin}");
    }
    assert!(page.urls.try_recv().is_err(), "nobody is told that it was opened");
    page.enter();
}

/// Browsers send the cookies of all ports of an address to each of them.
#[test]
fn pages_of_two_projects_do_not_log_each_other_out() {
    let (one, other) = (Page::start(), Page::start());
    let (first, second) = (one.enter(), other.enter());
    assert_ne!(first.cookie.split('=').next(), second.cookie.split('=').next());
    let cookies = format!("{}; {}", first.cookie, second.cookie);
    for page in [&one, &other] {
        let headers = [("Host", page.address.as_str()), ("Cookie", &cookies)];
        assert_eq!(status(&page.send("GET /review", &headers, "")), "200");
    }
}

#[test]
fn only_the_page_itself_can_decide() {
    let page = Page::start();
    let browser = page.enter();
    let (host, cookie) = (("Host", page.address.as_str()), ("Cookie", browser.cookie.as_str()));
    let (own, secret) = (format!("http://{}", page.address), browser.secret.as_str());
    let origin = ("Origin", own.as_str());
    assert_eq!(status(&page.accept(&[host, cookie], secret)), "403", "no origin");
    for origin in ["null", "http://evil.example", "http://127.0.0.1", &own.replace("http:", "https:")] {
        assert_eq!(status(&page.accept(&[host, cookie, ("Origin", origin)], secret)), "403", "{origin}");
    }
    assert_eq!(status(&page.accept(&[host, origin], secret)), "401", "no cookie");
    // Another server on this machine may have the cookie, and whoever has it can send any origin.
    let value = browser.cookie.split_once('=').unwrap().1;
    for guess in ["", "0", &page.token, value] {
        assert_eq!(status(&page.accept(&[host, cookie, origin], guess)), "403", "{guess}");
    }
    for path in ["/review", "/review/p1", "/history", "/statistics"] {
        let shown = page.send(&format!("GET {path}"), &[host, cookie], "");
        assert!(!shown.contains(secret), "{path} does not tell the secret");
    }
    // Nothing is changed by reading.
    for line in ["GET /review/p1?action=accept", "GET /unlock", "PUT /review/p1", "DELETE /review/p1"] {
        page.send(line, &[host, cookie, origin], "");
    }
    let large = "x".repeat(9 << 20);
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let body = format!("action=accept&secret={secret}&x={large}");
    let answer = page.send("POST /review/p1", &[host, cookie, origin, form], &body);
    assert_eq!(status(&answer), "413");
    assert!(page.is_unchanged());
    assert_eq!(status(&page.accept(&[host, cookie, origin], secret)), "303", "the page itself");
    assert!(!page.is_unchanged());
}

#[test]
fn a_selection_stays_when_another_tab_is_opened() {
    let page = Page::start();
    let browser = page.enter();
    let headers = [("Host", page.address.as_str()), ("Cookie", browser.cookie.as_str())];
    let show = |path: &str| page.send(&format!("GET {path}"), &headers, "");
    let query = "?agent=codex&amp;file=src&amp;since=2h";
    for path in ["/review", "/review/p1", "/history", "/statistics"] {
        let shown = show(&format!("{path}?agent=codex&file=src&since=2h"));
        for tab in ["/review", "/history", "/statistics"] {
            assert!(shown.contains(&format!("href=\"{tab}{query}\"")), "{path}: {tab}\n{shown}");
        }
        assert!(shown.contains("Filter · on"), "{path}\n{shown}");
    }
    // Calls have no text to search for.
    let shown = show("/review?q=x&agent=codex");
    assert!(shown.contains("href=\"/history?q=x&amp;agent=codex\""), "{shown}");
    assert!(shown.contains("href=\"/statistics?agent=codex\""), "{shown}");
}

#[test]
fn statistics_count_what_is_selected_and_a_bar_narrows_it_down() {
    let page = Page::start();
    let browser = page.enter();
    let headers = [("Host", page.address.as_str()), ("Cookie", browser.cookie.as_str())];
    let show = |path: &str| page.send(&format!("GET {path}"), &headers, "");
    let all = show("/statistics");
    assert!(all.contains("<b>2</b> calls"), "{all}");
    let cause = "href=\"/statistics?cause=pending_review";
    assert!(all.contains(&format!("{cause}#calls\"")), "{all}");
    let one = show("/statistics?file=.env&since=1h");
    assert!(one.contains("<b>1</b> calls"), "{one}");
    assert!(one.contains(&format!("{cause}&amp;file=.env&amp;since=1h#calls\"")), "{one}");
    let listed = show("/statistics?cause=pending_review&file=.env&since=1h");
    assert_eq!(listed.matches("native · edit_file").count(), 1, "{listed}");
    assert!(show("/statistics?agent=nobody").contains("<b>0</b> calls"));
    assert!(show("/statistics?since=soon").contains("`soon` is not a time"));
}

/// Whoever started the page may have opened it too, before the person who knows the passphrase.
#[test]
fn a_passphrase_counts_in_the_browser_where_it_was_entered_and_for_undo_too() {
    let page = Page::start_with(Some("correct horse"), Selection::default());
    let other = page.enter();
    let page = page.for_next_browser();
    let person = page.enter();
    assert_eq!(page.submit(&person, "/review/p1", "action=accept"), "403", "locked");
    let unlocked = page.submit_for_answer(&person, "/unlock?agent=x", "passphrase=correct+horse&next=p1");
    assert_eq!(status(&unlocked), "303");
    assert!(unlocked.contains("location: /review/p1?agent=x\r\n"), "the selection stays: {unlocked}");
    assert_eq!(page.submit(&other, "/review/p1", "action=accept"), "403", "still locked");
    assert!(page.is_unchanged());
    assert_eq!(page.submit(&person, "/review/p1", "action=accept"), "303");
    assert_eq!(page.submit(&other, "/history/c1", "action=undo"), "403");
    assert!(!page.is_unchanged());
    // With nothing left to decide, the history is the only place to enter it.
    let headers = [("Host", page.address.as_str()), ("Cookie", other.cookie.as_str())];
    let history = page.send("GET /history/c1", &headers, "");
    assert!(history.contains("id=\"passphrase\"") && !history.contains("id=\"revert\""), "{history}");
    assert_eq!(page.submit(&person, "/history/c1", "action=undo"), "303");
    assert!(page.is_unchanged());
    assert_eq!(page.submit(&other, "/unlock", "passphrase=correct+horse&next=c1"), "303");
    assert_eq!(page.submit(&other, "/history/c1", "action=redo"), "303");
}

#[test]
fn accept_all_leaves_out_what_was_rejected() {
    let page = Page::start();
    let browser = page.enter();
    let fields = "action=accept&hunk-1=reject&reason-1=not+this";
    assert_eq!(page.submit(&browser, "/review/p1", fields), "303");
    assert!(page.is_unchanged());
    let headers = [("Host", page.address.as_str()), ("Cookie", browser.cookie.as_str())];
    let decided = page.send("GET /review/p1", &headers, "");
    assert!(decided.contains("p1 was rejected by review page: not this"), "{decided}");
}

#[test]
fn a_form_for_several_has_the_choices_of_each() {
    let page = Page::start();
    let browser = page.enter();
    let fields = "action=accept&id=p1&p1.hunk-1=edit&p1.text-1=edited+by+hand";
    assert_eq!(page.submit(&browser, "/review", fields), "303");
    let headers = [("Host", page.address.as_str()), ("Cookie", browser.cookie.as_str())];
    let decided = page.send("GET /review/p1", &headers, "");
    assert!(decided.contains("with hunk 1 edited") && decided.contains("+edited by hand"), "{decided}");
}

#[test]
fn text_from_agents_stays_text() {
    let page = Page::start();
    let browser = page.enter();
    let headers = [("Host", page.address.as_str()), ("Cookie", browser.cookie.as_str())];
    for path in [
        "/review",
        "/review/p1",
        "/review/p1/hunk/1",
        "/history",
        "/review?q=%3Cscript%3Ealert(1)%3C/script%3E",
        "/nowhere",
    ] {
        let answer = page.send(&format!("GET {path}"), &headers, "");
        assert!(!answer.contains("<script>alert"), "{path}: {answer}");
        // The text to edit must be the text that is written; everywhere else, what deceives readers is escaped.
        let outside = answer.split("<textarea").enumerate().map(|(index, part)| match index {
            0 => part,
            _ => part.split_once("</textarea>").map_or("", |(_, rest)| rest),
        });
        assert!(!outside.collect::<String>().contains('\u{202e}'), "{path}: {answer}");
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        for part in
            ["default-src 'none'", "frame-ancestors 'none'", "x-frame-options: deny", "nosniff", "no-store"]
        {
            assert!(head.contains(part), "{path}: {part}: {head}");
        }
        assert!(!head.contains("unsafe-inline"));
    }
}

#[test]
fn a_change_of_a_private_file_says_that_it_cannot_be_undone_later() {
    let page = Page::start();
    let browser = page.enter();
    let headers = [("Host", page.address.as_str()), ("Cookie", browser.cookie.as_str())];
    let private = page.send("GET /review/p2", &headers, "");
    assert!(private.contains("undone later"), "{private}");
    assert!(private.contains("until this review is closed"), "{private}");
    let other = page.send("GET /review/p1", &headers, "");
    assert!(!other.contains("undone later"), "{other}");
    assert!(other.contains("no undo"), "the list marks the private one: {other}");
}

#[test]
fn the_server_stops_although_a_browser_still_waits() {
    let page = Page::start();
    let mut stream = TcpStream::connect(&page.address).unwrap();
    stream.write_all(b"GET /review HTTP/1.1\r\n").unwrap();
    // An answer on another connection shows that the unfinished request has been accepted before.
    assert!(page.send("GET /review HTTP/1.1", &[], "").starts_with("HTTP/1.1"));
    page.stop.send(()).unwrap();
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || ended.send(page.server.join().is_ok()));
    assert!(end.recv_timeout(Duration::from_secs(60)).expect("the server hangs"));
}

#[test]
fn a_selection_is_carried_from_the_address_to_the_queue() {
    let selection =
        Selection { agent: "a&b".into(), since: "2026-01-31T10:00:00Z".into(), ..Selection::default() };
    let page = Page::start_with(None, selection);
    let (token, query) = page.token.split_once('&').unwrap();
    let (token, query) = (token.to_owned(), query.to_owned());
    assert_eq!(query, "agent=a%26b&since=2026-01-31T10%3A00%3A00Z");
    let host = ("Host", page.address.as_str());
    let door = page.send(&format!("GET /?token={token}&{query}"), &[host], "");
    assert!(door.contains(r#"action="/?agent=a%26b&amp;since=2026-01-31T10%3A00%3A00Z""#), "{door}");
    let origin = format!("http://{}", page.address);
    let headers = [host, ("Origin", origin.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
    let entry = page.send(&format!("POST /?{query}"), &headers, &format!("token={token}"));
    assert!(entry.contains(r#"href="/review?agent=a%26b&amp;since=2026-01-31T10%3A00%3A00Z""#), "{entry}");
    // The address for another browser opens the same selection.
    assert!(page.urls.recv_timeout(Duration::from_secs(20)).unwrap().ends_with(&query));
    let cookie = entry.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let queue = page.send(&format!("GET /review?{query}"), &[host, ("Cookie", cookie)], "");
    assert!(queue.contains("Nothing matches") && queue.contains(r#"value="a&amp;b""#), "{queue}");
}
