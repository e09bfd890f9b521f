//! The rmcp handler: which method is answered where.

use slipstitch::core::text::display::quote_names;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use slipstitch::core::report::{Report, plain_text};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::call::{Call, FormReply};
use crate::caller::{Caller, ProtocolEra};
use crate::change_watcher::{ChangeListener, Timestamp};
use crate::error::ServeError;
use crate::instructions::instructions;
use crate::line_transport::LineTransport;
use crate::options::Options;
use crate::prompts;
use crate::resources;
use crate::server_state::{self, Clients, ServerState};
use crate::session::{self, Session, internal_failure};
use crate::session_table::SessionTable;
use crate::subscriptions;

/// Known methods that the stateless protocol no longer has, whatever their parameters.
const REMOVED_METHODS: &[&str] =
    &["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// Known methods. A request for one of them that rmcp cannot parse has wrong parameters.
const KNOWN_METHODS: &[&str] = &[
    "initialize",
    "tools/call",
    "tools/list",
    "resources/read",
    "resources/list",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "prompts/get",
    "prompts/list",
    "completion/complete",
    "logging/setLevel",
    "server/discover",
];

/// How many resources a client can subscribe to with `resources/subscribe`.
const MAX_SUBSCRIPTIONS: usize = 100;

/// The rmcp handler of one connection.
#[derive(Debug, Clone)]
pub struct Server {
    state: Arc<ServerState>,
    sessions: Arc<SessionTable>,
    session: Arc<Session>,
}

impl Server {
    /// A server for one client.
    pub fn new(options: Options) -> Result<Self, ServeError> {
        let state = ServerState::new(options, Clients::Single)?;
        let sessions = SessionTable::new().map_err(ServeError::Start)?;
        Self::for_connection(state, sessions).map_err(ServeError::Start)
    }

    /// The handler of a new connection to a server.
    pub(crate) fn for_connection(
        state: Arc<ServerState>,
        sessions: Arc<SessionTable>,
    ) -> std::io::Result<Self> {
        let session = sessions.new_session(&state.options)?;
        Ok(Self { state, sessions, session })
    }

    /// A transport of one message per line, which notices when the client closes its end.
    pub fn transport<R, W>(&self, reader: R, writer: W) -> LineTransport<R, W>
    where
        R: AsyncRead + Send + Unpin,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let versions = ServerHandler::supported_protocol_versions(self);
        LineTransport::new(reader, writer, versions, &self.state)
    }

    /// The session's name in the journal.
    pub fn session(&self) -> &str {
        &self.session.name
    }

    pub(crate) fn state(&self) -> &Arc<ServerState> {
        &self.state
    }

    /// The client that makes a request, and the session that the request belongs to.
    fn caller_and_session(&self, context: &RequestContext<RoleServer>) -> (Caller, Arc<Session>) {
        let caller = Caller::from_context(context);
        let session = self.sessions.session_for(&self.state, &self.session, &caller);
        (caller, session)
    }

    /// The instructions for the model of a client that lists its roots or does not.
    fn instructions(&self, lists_roots: bool) -> String {
        let options = &self.state.options;
        instructions(&self.state.catalogue, options.mode, &options.roots.describe(lists_roots))
    }

    async fn call(
        &self,
        name: &str,
        arguments: Value,
        reply: FormReply,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((dialect, tool)) = self.state.catalogue.find(name) else {
            let report = self.state.catalogue.unknown_tool(name);
            return Err(ErrorData::invalid_params(plain_text(&report), serde_json::to_value(&report).ok()));
        };
        let (caller, session) = self.caller_and_session(context);
        let call = Call { server: self.state.clone(), session, caller, dialect, tool, arguments };
        // Boxed because the future is large and moved several times. Tracked because a stopping server waits for it.
        self.state.tasks.track_future(Box::pin(call.answer(reply))).await
    }

    /// Runs `work` with the caller's workspace and session name, on a thread that may block.
    async fn with_workspace<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&slipstitch::Workspace, &str) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let (caller, session) = self.caller_and_session(context);
        let workspace = self.open_workspace(&session, &caller).await?;
        let result = self.state.tasks.spawn_blocking(move || work(&workspace, &session.name)).await;
        result.map_err(|error| report_error(&internal_failure(&error.to_string())))?
    }

    async fn open_workspace(
        &self,
        session: &Session,
        caller: &Caller,
    ) -> Result<Arc<slipstitch::Workspace>, ErrorData> {
        session.workspace(&self.state, caller).await.map_err(|report| report_error(&report))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        let about = Implementation::new("slipstitch", env!("CARGO_PKG_VERSION"))
            .with_title("Slipstitch")
            .with_description("Edits files exactly where asked or not at all, and can undo every change.");
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(self.instructions(false))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // Calls in flight rely on the client's identity and capabilities, so they are fixed.
        if self.session.initialized.swap(true, Ordering::SeqCst) {
            let message = "the session is already initialized; open another connection to start a new one";
            return Err(ErrorData::invalid_request(message, None));
        }
        context.peer.set_peer_info(request.clone());
        let lists_roots = request.capabilities.roots.is_some() && self.state.clients == Clients::Single;
        let mut result = self.negotiate_initialize(&request)?;
        result.instructions = Some(self.instructions(lists_roots));
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let catalogue = &self.state.catalogue;
        if !catalogue.has_switches() {
            return Ok(ListToolsResult::with_all_items(catalogue.definitions().to_vec()));
        }
        // Without a root, the calls will say what is wrong.
        let settings = |workspace: &slipstitch::Workspace, _: &str| Ok(workspace.settings().clone());
        let settings = self.with_workspace(&context, settings).await.unwrap_or_default();
        Ok(ListToolsResult::with_all_items(catalogue.enabled_definitions(&settings)))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.state.catalogue.definition(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let reply = FormReply { request_state: request.request_state, responses: request.input_responses };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        self.call(&request.name, arguments, reply, &context).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list_prompts(&self.state.catalogue)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(guide) = prompts::guide_prompt(&self.state.catalogue, &request.name) {
            return Ok(GetPromptResult::new(vec![guide]).into());
        }
        if request.name != prompts::RECAP {
            let prompts = prompts::list_prompts(&self.state.catalogue);
            let names = quote_names(prompts.iter().map(|prompt| prompt.name.as_str()));
            let message = format!("unknown prompt `{}`; available prompts: {names}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let recap = |workspace: &slipstitch::Workspace, session: &str| {
            prompts::recap_prompt(workspace, session)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))
        };
        Ok(GetPromptResult::new(vec![self.with_workspace(&context, recap).await?]).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list_resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::list_templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read =
            move |workspace: &slipstitch::Workspace, _: &str| resources::read_resource(workspace, &uri);
        Ok(self.with_workspace(&context, read).await?.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let now = Timestamp::now();
        if !resources::can_be_watched(&request.uri) {
            return Err(resources::unknown_resource(&request.uri));
        }
        let caller = Caller::from_context(&context);
        self.open_workspace(&self.session, &caller).await?;
        {
            let mut subscribed = self.session.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            if subscribed.len() >= MAX_SUBSCRIPTIONS && !subscribed.contains(&request.uri) {
                let message = format!(
                    "the limit of {MAX_SUBSCRIPTIONS} subscriptions is reached; end some of them first"
                );
                return Err(ErrorData::invalid_params(message, None));
            }
            subscribed.insert(request.uri);
        }
        subscriptions::start(&self.state, &self.session, caller, now);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.resource_subscriptions = requested
            .resource_subscriptions
            .as_ref()
            .map(|uris| uris.iter().filter(|uri| resources::can_be_watched(uri)).cloned().collect());
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let now = Timestamp::now();
        let (caller, session) = self.caller_and_session(context.request_context());
        let _client_permit = acquire_listener(&session.listeners, session::MAX_LISTENERS, "per client")?;
        let _server_permit =
            acquire_listener(&self.state.listeners, server_state::MAX_LISTENERS, "per server")?;
        let wanted: Vec<String> = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        if wanted.is_empty() {
            tokio::select! {
                () = caller.cancelled.cancelled() => {}
                () = self.state.closing.cancelled() => {}
            }
            return Ok(());
        }
        let workspace = self.open_workspace(&session, &caller).await?;
        let mut listener = ChangeListener::since(&self.state.watchers, &workspace, now)
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        loop {
            let updated = tokio::select! {
                updated = listener.next() => updated,
                () = caller.cancelled.cancelled() => return Ok(()),
                () = self.state.closing.cancelled() => return Ok(()),
            };
            for uri in wanted.iter().filter(|uri| updated.contains(*uri)) {
                if context.sink().notify_resource_updated(uri.clone()).await.is_err() {
                    return Ok(());
                }
            }
        }
    }

    /// Handles requests that rmcp cannot parse. For a known method that is an error in the parameters, except for a tool
    /// call whose arguments are not an object: the dialects have an answer for that.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        let is_stateless = Caller::from_context(&context).era == ProtocolEra::Stateless;
        if !KNOWN_METHODS.contains(&method) || (is_stateless && REMOVED_METHODS.contains(&method)) {
            let message = format!("unknown method `{method}`");
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        }
        let params = request.params.unwrap_or_default();
        let has_odd_arguments =
            method == "tools/call" && params.get("arguments").is_some_and(|given| !given.is_object());
        let (true, Some(name)) = (has_odd_arguments, params["name"].as_str()) else {
            let message = format!("the parameters of `{method}` are missing or malformed");
            return Err(ErrorData::invalid_params(message, None));
        };
        match self.call(name, params["arguments"].clone(), FormReply::default(), &context).await? {
            CallToolResponse::Complete(mut result) => {
                if !is_stateless {
                    result.result_type = None;
                }
                let result = serde_json::to_value(result);
                Ok(CustomResult::new(
                    result.map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
                ))
            }
            _ => Err(ErrorData::invalid_params("the arguments of a tool must be an object", None)),
        }
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.session.handle_roots_changed().await;
    }
}

/// Takes one of the `max` permits for open `subscriptions/listen` requests.
fn acquire_listener<'a>(
    permits: &'a Semaphore,
    max: usize,
    scope: &str,
) -> Result<SemaphorePermit<'a>, ErrorData> {
    permits.try_acquire().map_err(|_| {
        let message = format!(
            "the limit of {max} subscriptions {scope} is reached; end one of them first, or name more resources in one"
        );
        ErrorData::invalid_request(message, None)
    })
}

/// A report as a protocol error, for requests that are not tool calls.
fn report_error(report: &Report) -> ErrorData {
    let hint = report.hint.as_deref().unwrap_or_default();
    ErrorData::internal_error(format!("{}. {hint}", report.message), None)
}
