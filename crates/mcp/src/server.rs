//! The methods of the protocol, and where each is answered.

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

use crate::call::{Again, Call};
use crate::caller::{Caller, Era};
use crate::error::ServeError;
use crate::hub::{self, Hub, Link};
use crate::instructions::instructions;
use crate::lookout::{Moment, Watch};
use crate::options::Options;
use crate::prompts;
use crate::resources::{self, Address};
use crate::session::{self, Session, broken};
use crate::stdio::LineTransport;
use crate::watch;

/// Those of the known methods that the stateless protocol has no more, whatever their parameters.
const RETIRED: &[&str] =
    &["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// The methods that are known, so that one of them with wrong parameters is told so.
const METHODS: &[&str] = &[
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

/// How many resources a client can subscribe to.
const MAX_SUBSCRIBED: usize = 1_000;

/// The handler of one connection, for rmcp.
#[derive(Debug, Clone)]
pub struct Server {
    hub: Arc<Hub>,
    session: Arc<Session>,
}

impl Server {
    /// A server for one client.
    pub fn new(options: Options) -> Result<Self, ServeError> {
        Self::on(Hub::new(options, Link::Own)?).map_err(ServeError::Start)
    }

    /// A connection of its own to a server that others may be connected to.
    pub(crate) fn on(hub: Arc<Hub>) -> std::io::Result<Self> {
        let session = hub.new_session()?;
        Ok(Self { hub, session })
    }

    /// A transport of lines that tells this server when the client is gone.
    pub fn transport<R, W>(&self, reader: R, writer: W) -> LineTransport<R, W>
    where
        R: AsyncRead + Send + Unpin,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let versions = ServerHandler::supported_protocol_versions(self);
        LineTransport::new(reader, writer, versions, &self.hub)
    }

    /// The name of the session in the journal.
    pub fn session(&self) -> &str {
        &self.session.name
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    async fn call(
        &self,
        name: &str,
        arguments: Value,
        again: Again,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((dialect, tool)) = self.hub.catalogue.find(name) else {
            let report = self.hub.catalogue.unknown(name);
            return Err(ErrorData::invalid_params(plain_text(&report), serde_json::to_value(&report).ok()));
        };
        let caller = Caller::of(context);
        let session = self.hub.session_of(&self.session, &caller);
        let call = Call { hub: self.hub.clone(), session, caller, dialect, tool, arguments };
        // In a box of its own: what holds the request is moved about several times. A server that stops waits for it.
        self.hub.tasks.track_future(Box::pin(call.answer(again))).await
    }

    /// Has `work` done with the journal of the caller's workspace.
    async fn journal<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&slipstitch::Workspace, &str) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let caller = Caller::of(context);
        let session = self.hub.session_of(&self.session, &caller);
        let workspace = session.workspace(&self.hub, &caller).await.map_err(|report| unopened(&report))?;
        let done = self.hub.tasks.spawn_blocking(move || work(&workspace, &session.name)).await;
        done.map_err(|error| unopened(&broken(&error.to_string())))?
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
            .with_description("Edits files at the right place or not at all, and takes edits back.");
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(instructions(&self.hub.catalogue, self.hub.options.mode))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // Who the client is and what it can do was settled by the first; calls in flight count on it.
        if self.session.initialized.swap(true, Ordering::SeqCst) {
            let message = "the session is initialized already and stays as it is; open another connection for a new one";
            return Err(ErrorData::invalid_request(message, None));
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.hub.catalogue.listed().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.hub.catalogue.one_listed(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let again = Again { state: request.request_state, responses: request.input_responses };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        self.call(&request.name, arguments, again, &context).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::listed(&self.hub.catalogue)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(guide) = prompts::guide_for(&self.hub.catalogue, &request.name) {
            return Ok(GetPromptResult::new(vec![guide]).into());
        }
        if request.name != prompts::RECAP {
            let names: Vec<String> = prompts::listed(&self.hub.catalogue)
                .iter()
                .map(|prompt| format!("`{}`", prompt.name))
                .collect();
            let message = format!("there is no prompt `{}`; the prompts: {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        let recap = |workspace: &slipstitch::Workspace, session: &str| {
            prompts::recap(workspace, session)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))
        };
        Ok(GetPromptResult::new(vec![self.journal(&context, recap).await?]).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::listed()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read = self.journal(&context, move |workspace, _| resources::read(workspace, &uri)).await?;
        Ok(read.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let moment = Moment::now();
        if Address::parse(&request.uri).is_none() {
            return Err(resources::unknown(&request.uri));
        }
        let caller = Caller::of(&context);
        self.session.workspace(&self.hub, &caller).await.map_err(|report| unopened(&report))?;
        {
            let mut subscribed = self.session.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            if subscribed.len() >= MAX_SUBSCRIBED {
                let message =
                    format!("there are {MAX_SUBSCRIBED} subscriptions already; end some of them first");
                return Err(ErrorData::invalid_params(message, None));
            }
            subscribed.insert(request.uri);
        }
        watch::start(&self.hub, &self.session, caller, moment);
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
            .map(|uris| uris.iter().filter(|uri| Address::parse(uri).is_some()).cloned().collect());
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let moment = Moment::now();
        let caller = Caller::of(context.request_context());
        let session = self.hub.session_of(&self.session, &caller);
        let _here = seat(&session.listeners, session::MAX_LISTENERS, "of this client")?;
        let _there = seat(&self.hub.listeners, hub::MAX_LISTENERS, "at this server")?;
        let wanted: Vec<String> = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        if wanted.is_empty() {
            tokio::select! {
                () = caller.cancelled.cancelled() => {}
                () = self.hub.closing.cancelled() => {}
            }
            return Ok(());
        }
        let workspace = session.workspace(&self.hub, &caller).await.map_err(|report| unopened(&report))?;
        let mut watch = Watch::since(&self.hub, &workspace, moment)
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        loop {
            let updated = tokio::select! {
                updated = watch.next() => updated,
                () = caller.cancelled.cancelled() => return Ok(()),
                () = self.hub.closing.cancelled() => return Ok(()),
            };
            for uri in wanted.iter().filter(|uri| updated.contains(*uri)) {
                if context.sink().notify_resource_updated(uri.clone()).await.is_err() {
                    return Ok(());
                }
            }
        }
    }

    /// Requests that rmcp has no form for: those of known methods are malformed, except calls whose arguments are no
    /// object, which the dialects have an answer for.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        let stateless = Caller::of(&context).era == Era::Stateless;
        if !METHODS.contains(&method) || (stateless && RETIRED.contains(&method)) {
            return Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("there is no method `{}`", request.method),
                None,
            ));
        }
        let params = request.params.unwrap_or_default();
        let odd =
            request.method == "tools/call" && params.get("arguments").is_some_and(|given| !given.is_object());
        let (true, Some(name)) = (odd, params["name"].as_str()) else {
            let message = format!("the parameters of `{}` are missing or malformed", request.method);
            return Err(ErrorData::invalid_params(message, None));
        };
        match self.call(name, params["arguments"].clone(), Again::default(), &context).await? {
            CallToolResponse::Complete(mut result) => {
                if !stateless {
                    result.result_type = None;
                }
                let result = serde_json::to_value(result);
                Ok(CustomResult::new(
                    result.map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
                ))
            }
            _ => Err(ErrorData::invalid_params("the arguments of a tool are an object", None)),
        }
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.session.roots_changed().await;
    }
}

/// A place among those who listen.
fn seat<'a>(seats: &'a Semaphore, most: usize, whose: &str) -> Result<SemaphorePermit<'a>, ErrorData> {
    seats.try_acquire().map_err(|_| {
        let message = format!(
            "there are {most} subscriptions {whose} already; end one of them first, or name more resources in one"
        );
        ErrorData::invalid_request(message, None)
    })
}

/// A workspace that cannot be opened, where no tool is called that could say so in its words.
fn unopened(report: &Report) -> ErrorData {
    let hint = report.hint.as_deref().unwrap_or_default();
    ErrorData::internal_error(format!("{}. {hint}", report.message), None)
}
