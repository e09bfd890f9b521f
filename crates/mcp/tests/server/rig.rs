//! A folder, a server over it, and a client with a person in front of it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationCapability, Implementation, ListRootsResult, ProgressNotificationParam,
    ProtocolVersion, ResourceUpdatedNotificationParam, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService, ServiceError};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServiceExt};
use serde_json::{Value, json};
use slipstitch::{Fsync, Workspace};
use slipstitch_mcp::{Options, Server};
use tokio::sync::{Mutex, mpsc};

/// How long anything may take before a test fails.
pub(crate) const SOON: Duration = Duration::from_secs(20);

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

pub(crate) struct Rig(tempfile::TempDir);

impl Rig {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        Self(folder)
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let rig = Self::new();
        for (name, text) in files {
            rig.put(name, text);
        }
        rig
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.root().join(name), text).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name)).unwrap()
    }

    pub(crate) fn options(&self, dialect: &str) -> Options {
        Options {
            dialects: vec![dialect.into()],
            state_dir: Some(self.0.path().join("state")),
            config: Some(self.config("")),
            fsync: Some(Fsync::Off),
            ..Options::default()
        }
        .with_root(self.root())
    }

    pub(crate) fn config(&self, text: &str) -> PathBuf {
        let path = self.0.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The same journal, as another process would see it.
    pub(crate) fn workspace(&self, session: &str) -> Workspace {
        self.workspace_at(&self.root(), session)
    }

    pub(crate) fn workspace_at(&self, root: &Path, session: &str) -> Workspace {
        let builder = Workspace::builder(root).state_dir(self.0.path().join("state"));
        builder.config(self.config("")).session(session).fsync(Fsync::Off).open().unwrap()
    }

    /// Holds calls up before they look at anything, as a change of their session's mode does, until the files are
    /// dropped. Sessions are known once they have made a call.
    pub(crate) fn hold_calls(&self) -> Vec<File> {
        let gates = std::fs::read_dir(self.workspace("x").state_dir().join("locks")).unwrap();
        let gates = gates.map(|entry| entry.unwrap().path());
        let gates = gates.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("mode-"));
        let held: Vec<File> = gates.map(|gate| File::open(gate).unwrap()).collect();
        assert!(!held.is_empty());
        held.iter().for_each(|gate| gate.lock().unwrap());
        held
    }

    pub(crate) async fn connect(&self, dialect: &str, era: Era) -> Client {
        Client::connect(self.options(dialect), Person::default(), era).await
    }
}

/// What a client hears that it did not ask for.
#[derive(Debug)]
pub(crate) enum Heard {
    Question(String),
    Progress { step: f64, total: Option<f64>, message: String },
    Updated(String),
}

/// Who sits in front of a client.
#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) forms: bool,
    pub(crate) roots: Option<Arc<std::sync::Mutex<Vec<String>>>>,
    /// Whether the client fails to say its roots.
    pub(crate) mute: Arc<AtomicBool>,
    heard: Option<mpsc::UnboundedSender<Heard>>,
    answers: Arc<Mutex<mpsc::UnboundedReceiver<ElicitResult>>>,
    say: mpsc::UnboundedSender<ElicitResult>,
}

impl Default for Person {
    fn default() -> Self {
        let (say, answers) = mpsc::unbounded_channel();
        Self {
            forms: true,
            roots: None,
            mute: Arc::default(),
            heard: None,
            answers: Arc::new(Mutex::new(answers)),
            say,
        }
    }
}

impl Person {
    pub(crate) fn without_forms() -> Self {
        Self { forms: false, ..Self::default() }
    }

    pub(crate) fn with_roots(roots: &[String]) -> Self {
        Self { roots: Some(Arc::new(std::sync::Mutex::new(roots.to_vec()))), ..Self::default() }
    }

    fn hear(&self, heard: Heard) {
        if let Some(to) = &self.heard {
            to.send(heard).unwrap();
        }
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.forms {
            capabilities.elicitation = Some(ElicitationCapability::new());
        }
        if self.roots.is_some() {
            capabilities.roots = Some(Default::default());
        }
        ClientConfig::new(capabilities, Implementation::new("rig", "1.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("a form") };
        self.hear(Heard::Question(message));
        Ok(self.answers.lock().await.recv().await.unwrap())
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        if self.mute.load(Ordering::SeqCst) {
            return Err(ErrorData::internal_error("not now", None));
        }
        let roots = self.roots.as_ref().unwrap().lock().unwrap().iter().map(Root::new).collect();
        Ok(ListRootsResult::new(roots))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let (step, total) = (params.progress, params.total);
        self.hear(Heard::Progress { step, total, message: params.message.unwrap_or_default() });
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hear(Heard::Updated(params.uri));
    }
}

/// A client that is connected.
pub(crate) struct Client {
    pub(crate) service: RunningService<RoleClient, Person>,
    pub(crate) heard: mpsc::UnboundedReceiver<Heard>,
    pub(crate) session: String,
    say: mpsc::UnboundedSender<ElicitResult>,
}

impl Client {
    pub(crate) async fn connect(options: Options, person: Person, era: Era) -> Self {
        let server = Server::new(options).unwrap();
        let session = server.session().to_owned();
        let (here, there) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(there);
        let transport = server.transport(reader, writer);
        tokio::spawn(async move { server.serve(transport).await.unwrap().waiting().await });
        Self::over(here, person, era, session).await
    }

    pub(crate) async fn over<T, E, A>(transport: T, mut person: Person, era: Era, session: String) -> Self
    where
        T: rmcp::transport::IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let (heard_by, heard) = mpsc::unbounded_channel();
        person.heard = Some(heard_by);
        let say = person.say.clone();
        let service = person.serve_with_lifecycle(transport, era.lifecycle()).await.unwrap();
        Self { service, heard, session, say }
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
        tokio::time::timeout(SOON, call).await.expect("an answer in time")
    }

    /// What the person will say to the next question.
    pub(crate) fn say(&self, answer: Value) {
        self.say.send(serde_json::from_value(answer).unwrap()).unwrap();
    }

    pub(crate) async fn hears(&mut self) -> Heard {
        tokio::time::timeout(SOON, self.heard.recv()).await.expect("in time").unwrap()
    }

    pub(crate) async fn question(&mut self) -> String {
        match self.hears().await {
            Heard::Question(message) => message,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn request(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

pub(crate) fn approve() -> Value {
    json!({"action": "accept", "content": {"verdict": "approve"}})
}

/// The text of a result.
pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().expect("a text").text
}

pub(crate) fn failed(result: &CallToolResult) -> bool {
    result.is_error == Some(true)
}

/// A field of the structured content.
pub(crate) fn field<'a>(result: &'a CallToolResult, name: &str) -> &'a Value {
    &result.structured_content.as_ref().expect("a status")[name]
}

pub(crate) fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_text": old, "new_text": new})
}
