//! A temporary project, a server for it, and a client with a simulated user.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientCapabilities, ClientConfig,
    ElicitRequestParams, ElicitResult, ElicitationCapability, Implementation, ListRootsResult,
    ProgressNotificationParam, ProtocolVersion, RequestMetaObject, ResourceUpdatedNotificationParam, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService, ServiceError};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServiceExt};
use serde_json::{Value, json};
use slipstitch::{Fsync, Overrides, Workspace};
use slipstitch_mcp::{Options, Server};
use tokio::sync::{Mutex, mpsc};

/// How long to wait for anything before a test fails.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake,
    Stateless,
}

impl Era {
    pub(crate) fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Handshake => ClientLifecycleMode::Initialize,
            Self::Stateless => {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            }
        }
    }
}

/// A temporary folder with the root, the state folder and the configuration file.
pub(crate) struct TestProject(tempfile::TempDir);

impl TestProject {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        Self(folder)
    }

    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let project = Self::new();
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    /// Creates a folder next to the root.
    pub(crate) fn create_folder(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.root().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name)).unwrap()
    }

    pub(crate) fn options(&self, dialect: &str) -> Options {
        Options {
            dialects: vec![dialect.into()],
            overrides: Overrides {
                state_dir: Some(self.0.path().join("state")),
                config: Some(self.write_config("")),
                fsync: Some(Fsync::Off),
                ..Overrides::default()
            },
            // The simulated user answers at once.
            min_answer_time: Duration::ZERO,
            ..Options::default()
        }
        .with_root(self.root())
    }

    pub(crate) fn write_config(&self, text: &str) -> PathBuf {
        let path = self.0.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The project as another process would open it.
    pub(crate) fn workspace(&self, session: &str) -> Workspace {
        self.workspace_at(&self.root(), session)
    }

    pub(crate) fn workspace_at(&self, root: &Path, session: &str) -> Workspace {
        let builder = Workspace::builder(root).state_dir(self.0.path().join("state"));
        builder.config(self.write_config("")).session(session).fsync(Fsync::Off).open().unwrap()
    }

    /// Blocks calls before they read any file, as a mode change of their session does, until the returned locks are
    /// dropped. Only affects sessions that have already made a call.
    pub(crate) fn block_calls(&self) -> Vec<File> {
        self.take_locks(|name| name.starts_with("mode-"))
    }

    /// Holds the locks of the files edited so far, as another process that edits them would, until the returned locks are
    /// dropped.
    pub(crate) fn block_edits(&self) -> Vec<File> {
        self.take_locks(|name| !name.starts_with("mode-"))
    }

    fn take_locks(&self, is_wanted: fn(&str) -> bool) -> Vec<File> {
        let entries = std::fs::read_dir(self.workspace("x").state_dir().join("locks")).unwrap();
        let entries =
            entries.map(|entry| entry.unwrap()).filter(|entry| entry.file_type().unwrap().is_file());
        let wanted = entries.filter(|entry| is_wanted(&entry.file_name().to_string_lossy()));
        let locks: Vec<File> = wanted.map(|entry| File::open(entry.path()).unwrap()).collect();
        assert!(!locks.is_empty());
        locks.iter().for_each(|lock| lock.lock().unwrap());
        locks
    }

    pub(crate) async fn connect(&self, dialect: &str, era: Era) -> Client {
        Client::connect(self.options(dialect), TestUser::default(), era).await
    }
}

/// What the server sends to a client unasked.
#[derive(Debug)]
pub(crate) enum ClientEvent {
    FormShown(String),
    Progress {
        step: f64,
        total: Option<f64>,
        message: String,
    },
    ResourceUpdated(String),
    /// The server does not need an answer to a form any more, for this reason.
    FormWithdrawn(String),
}

/// The client's side: which capabilities it has, and how its user answers forms.
#[derive(Clone)]
pub(crate) struct TestUser {
    supports_forms: bool,
    /// URIs of the client's roots, if it supports them.
    roots: Option<Arc<std::sync::Mutex<Vec<String>>>>,
    pub(crate) fails_to_list_roots: Arc<AtomicBool>,
    events: Option<mpsc::UnboundedSender<ClientEvent>>,
    next_answer: Arc<Mutex<mpsc::UnboundedReceiver<ElicitResult>>>,
    answers: mpsc::UnboundedSender<ElicitResult>,
}

impl Default for TestUser {
    fn default() -> Self {
        let (answers, next_answer) = mpsc::unbounded_channel();
        Self {
            supports_forms: true,
            roots: None,
            fails_to_list_roots: Arc::default(),
            events: None,
            next_answer: Arc::new(Mutex::new(next_answer)),
            answers,
        }
    }
}

impl TestUser {
    pub(crate) fn without_forms() -> Self {
        Self { supports_forms: false, ..Self::default() }
    }

    pub(crate) fn with_roots(roots: &[String]) -> Self {
        Self { roots: Some(Arc::new(std::sync::Mutex::new(roots.to_vec()))), ..Self::default() }
    }

    /// Changes the client's roots. The server has to be notified.
    pub(crate) fn set_roots(&self, roots: &[String]) {
        *self.roots.as_ref().unwrap().lock().unwrap() = roots.to_vec();
    }

    fn record(&self, event: ClientEvent) {
        if let Some(events) = &self.events {
            events.send(event).unwrap();
        }
    }
}

impl ClientHandler for TestUser {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.supports_forms {
            capabilities.elicitation = Some(ElicitationCapability::new());
        }
        if self.roots.is_some() {
            capabilities.roots = Some(Default::default());
        }
        ClientConfig::new(capabilities, Implementation::new("test-client", "1.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("a form") };
        self.record(ClientEvent::FormShown(message));
        Ok(self.next_answer.lock().await.recv().await.unwrap())
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        if self.fails_to_list_roots.load(Ordering::SeqCst) {
            return Err(ErrorData::internal_error("not now", None));
        }
        let roots = self.roots.as_ref().unwrap().lock().unwrap().iter().map(Root::new).collect();
        Ok(ListRootsResult::new(roots))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let (step, total) = (params.progress, params.total);
        self.record(ClientEvent::Progress { step, total, message: params.message.unwrap_or_default() });
    }

    async fn on_cancelled(&self, params: CancelledNotificationParam, _: NotificationContext<RoleClient>) {
        self.record(ClientEvent::FormWithdrawn(params.reason.unwrap_or_default()));
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.record(ClientEvent::ResourceUpdated(params.uri));
    }
}

/// A connected client.
pub(crate) struct Client {
    pub(crate) service: RunningService<RoleClient, TestUser>,
    pub(crate) events: mpsc::UnboundedReceiver<ClientEvent>,
    pub(crate) session: String,
    answers: mpsc::UnboundedSender<ElicitResult>,
}

impl Client {
    pub(crate) async fn connect(options: Options, user: TestUser, era: Era) -> Self {
        let server = Server::new(options).unwrap();
        let session = server.session().to_owned();
        let (client_end, server_end) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(server_end);
        let transport = server.transport(reader, writer);
        tokio::spawn(async move { server.serve(transport).await.unwrap().waiting().await });
        Self::connect_over(client_end, user, era, session).await
    }

    pub(crate) async fn connect_over<T, E, A>(
        transport: T,
        mut user: TestUser,
        era: Era,
        session: String,
    ) -> Self
    where
        T: rmcp::transport::IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let (sender, events) = mpsc::unbounded_channel();
        user.events = Some(sender);
        let answers = user.answers.clone();
        let service = user.serve_with_lifecycle(transport, era.lifecycle()).await.unwrap();
        Self { service, events, session, answers }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        self.try_call(tool, arguments).await.unwrap()
    }

    pub(crate) async fn try_call(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let call = self.service.call_tool(request(tool, arguments));
        tokio::time::timeout(TIMEOUT, call).await.expect("an answer in time")
    }

    /// Sets the user's answer to the next form.
    pub(crate) fn answer_next_form(&self, answer: Value) {
        self.answers.send(serde_json::from_value(answer).unwrap()).unwrap();
    }

    pub(crate) async fn next_event(&mut self) -> ClientEvent {
        tokio::time::timeout(TIMEOUT, self.events.recv()).await.expect("an event in time").unwrap()
    }

    /// The message of the next form.
    pub(crate) async fn next_form(&mut self) -> String {
        match self.next_event().await {
            ClientEvent::FormShown(message) => message,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn request(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    let mut request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    let mut meta = RequestMetaObject::default();
    meta.0.0.insert("slipstitch/report".into(), true.into());
    request.meta = Some(meta);
    request
}

pub(crate) fn approve() -> Value {
    json!({"action": "accept", "content": {"decision": "approve"}})
}

/// The text of a result.
pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().expect("a text").text
}

pub(crate) fn is_error(result: &CallToolResult) -> bool {
    result.is_error == Some(true)
}

/// A field of the report that the request asked for.
pub(crate) fn reported<'a>(result: &'a CallToolResult, name: &str) -> &'a Value {
    &result.meta.as_ref().expect("a report").0["slipstitch/report"][name]
}

pub(crate) fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_text": old, "new_text": new})
}

pub(crate) fn folder_uri(folder: &Path) -> String {
    format!("file://{}", folder.display())
}

/// The arguments of a `phoenix` patch that replaces `one` with `two`.
pub(crate) fn phoenix_patch(path: &str) -> Value {
    json!({"path": path, "patches": [{"operation": "replace", "oldText": "one", "newText": "two"}]})
}

/// The arguments of an `agent-q` proposal, which always needs approval.
pub(crate) fn agent_q_proposal(path: &str, content: &str) -> Value {
    json!({"path": path, "new_content": content, "description": "d"})
}
