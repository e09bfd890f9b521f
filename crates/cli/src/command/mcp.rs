//! `slipstitch mcp`: the server that agent hosts connect to, and its installation in their settings.

mod check;
mod install;
mod several;
mod target;
mod uninstall;

pub(super) use target::options as target_options;

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use slipstitch::WorkspaceOpenError;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::settings::Mode;
use slipstitch_mcp::{Access, HttpOptions, Options, RootSource, ServeError, Token, serve_http, serve_stdio};

use super::dialect_name::DialectName;
use crate::error::CommandError;
use crate::global::Global;
use crate::model_option::ModelOption;
use crate::output::CommandResult;
use crate::workspace::{landlock_error_report, open_error_report};

const EXAMPLES: &str = "\
Examples:
  slipstitch mcp
  slipstitch mcp --root ~/project --dialect claude
  slipstitch mcp --dialect codex,phoenix --mode restricted
  slipstitch mcp --tools default,undo_edit
  slipstitch mcp install --client claude-code
  slipstitch mcp --http 127.0.0.1:7777 --token-file ~/.config/slipstitch/token
  slipstitch mcp --http 7777 --review

Without --http, the server talks to the program that started it over stdin and stdout.

The root is --root, else the host's project (SLIPSTITCH_ROOT, CLAUDE_PROJECT_DIR,
GEMINI_PROJECT_DIR, WORKSPACE_FOLDER_PATHS), else the client's roots (stdio only), else the
working directory. Nothing outside it is touched.

Over HTTP the server answers at /mcp. Clients must send `Authorization: Bearer TOKEN`. If you give
no token, the server generates one for this run and prints it to stderr.";

/// Serve the tools to an agent host over the Model Context Protocol
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    command: Option<SettingsCommand>,
    /// The dialects to serve, separated by commas or by repeating the option
    #[arg(long, value_name = "NAME", default_value = "native", value_delimiter = ',', value_parser = DialectName)]
    dialect: Vec<String>,
    /// The tools to offer, by name; `default` stands for those that are offered without this option, `all` for every tool
    /// and field
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tools: Vec<String>,
    /// Return structured content, output schemas and diffs beside the text, for clients that are programs; hosts show
    /// models both
    #[arg(long)]
    structured: bool,
    /// The mode in which sessions start; a restricted session can only read [possible values: restricted, unrestricted]
    #[arg(long, value_name = "MODE", value_parser = super::call::parse_mode)]
    mode: Option<Mode>,
    #[command(flatten)]
    model: ModelOption,
    /// How many seconds to wait for the user's approval; after that, the change stays pending for `slipstitch review`
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    patience: u64,
    /// Listen for HTTP on this address or local port instead of using stdio; port 0 picks a free one
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    http: Option<SocketAddr>,
    /// The token that HTTP clients must send; visible to other users in the process list, so prefer --token-file or the
    /// variable [env: SLIPSTITCH_MCP_TOKEN]
    // The variable is read in `http_options`: it only matters with HTTP, and the options take precedence over it.
    #[arg(long, value_name = "TOKEN", requires = "http")]
    token: Option<String>,
    /// Read the token from this file; if it does not exist, it is created with a new token
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Accept clients without a token: every program and user on this machine can then read and edit the files
    #[arg(long, requires = "http", conflicts_with_all = ["token", "token_file"])]
    no_token: bool,
    /// An additional host name that clients may use, as NAME or NAME:PORT
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// An additional web origin that may use the server, such as `https://app.example`
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
    /// Maximum size of an HTTP request body, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = HttpOptions::MAX_BODY, requires = "http")]
    max_body: usize,
    /// Also serve the review page, on a separate port that only browsers on this machine can reach
    #[arg(long, requires = "http")]
    review: bool,
}

/// The subcommands, which edit hosts' settings files instead of serving.
#[derive(Debug, Subcommand)]
enum SettingsCommand {
    Install(Box<install::Install>),
    Uninstall(uninstall::Uninstall),
}

impl Mcp {
    pub(super) fn run(mut self, global: &Global) -> CommandResult {
        match self.command.take() {
            None => self.serve(global),
            Some(SettingsCommand::Install(command)) => command.run(global),
            Some(SettingsCommand::Uninstall(command)) => command.run(global),
        }
    }

    fn serve(self, global: &Global) -> CommandResult {
        let mut options = self.options(global)?;
        // Before confinement, because the token file may be outside the roots.
        let http = match self.http {
            Some(address) => {
                self.check_token_file(&options).map_err(|error| error_report(&error))?;
                Some(self.http_options(address).map_err(|error| error_report(&error))?)
            }
            None => None,
        };
        if global.landlock {
            confine(&mut options)?;
        }
        if self.review {
            super::review::web::serve_beside(global.open_to_select()?)?;
        }
        let served = match http {
            None => serve_stdio(options),
            Some((http, new_token)) => {
                serve_http(options, http, |address| print_address(address, new_token.as_deref()))
            }
        };
        match served {
            Ok(()) => Ok(Box::new(Report::custom(Status::Shown, "stopped", "the server has stopped"))),
            Err(error) => Err(error_report(&error)),
        }
    }

    fn options(&self, global: &Global) -> Result<Options, CommandError> {
        Ok(Options {
            dialects: self.dialect.iter().map(|name| name.trim().to_owned()).collect(),
            tools: self.tools.iter().map(|name| name.trim().to_owned()).collect(),
            structured: self.structured,
            roots: RootSource::new(
                global.root.clone(),
                |name| std::env::var_os(name),
                |text| print_note(&text),
            ),
            overrides: global.overrides(),
            session: global.session_name()?,
            agent: global.agent_name()?,
            model: self.model.name()?,
            mode: self.mode.unwrap_or_default(),
            approval_timeout: Duration::from_secs(self.patience),
            ..Options::default()
        })
    }

    /// How the server is reached, and the token that was made for this run, if any.
    fn http_options(&self, address: SocketAddr) -> Result<(HttpOptions, Option<String>), ServeError> {
        let (token, new_token) = self.http_token()?;
        let access = Access { hosts: self.allow_host.clone(), origins: self.allow_origin.clone() };
        let options = HttpOptions { token, access, max_body: self.max_body, ..HttpOptions::new(address) };
        Ok((options, new_token))
    }

    fn check_token_file(&self, options: &Options) -> Result<(), ServeError> {
        let roots = options.roots.known().map_or_else(|| vec![PathBuf::from(".")], <[PathBuf]>::to_vec);
        self.token_file.as_deref().map_or(Ok(()), |path| Token::check_outside(path, &roots))
    }

    fn http_token(&self) -> Result<(Option<Token>, Option<String>), ServeError> {
        if self.no_token {
            return Ok((None, None));
        }
        let given = match (&self.token, &self.token_file) {
            (Some(text), _) => Some(Token::new(text)?),
            (None, Some(path)) => Some(Token::from_file(path)?),
            (None, None) => match crate::environment::env_variable("SLIPSTITCH_MCP_TOKEN") {
                Ok(Some(text)) => Some(Token::new(&text)?),
                Ok(None) => None,
                Err(error) => return Err(ServeError::Token(error.report.message)),
            },
        };
        match given {
            Some(token) => Ok((Some(token), None)),
            None => {
                let (token, text) = Token::random()?;
                Ok((Some(token), Some(text)))
            }
        }
    }
}

/// Lets the kernel confine the server, before it starts threads. The client lists its roots too late for that, so only
/// the folders known now are allowed.
fn confine(options: &mut Options) -> Result<(), CommandError> {
    let working = || vec![PathBuf::from(".")];
    let roots = options.roots.known().map_or_else(working, <[PathBuf]>::to_vec);
    let all: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    let state = slipstitch::state::folder(options.overrides.state_dir.as_deref(), &all)
        .map_err(|error| open_error_report(WorkspaceOpenError::State(error)))?;
    let writable: Vec<&Path> = roots.iter().map(PathBuf::as_path).chain([state.as_path()]).collect();
    let settings = slipstitch::config::Config::file(options.overrides.config.as_deref());
    let readable: Vec<&Path> = settings.iter().map(PathBuf::as_path).collect();
    let confined = slipstitch::confine::confine(&writable, &readable).map_err(landlock_error_report)?;
    if confined == slipstitch::confine::Confinement::Partial {
        print_note("this kernel supports Landlock only in part, so the server is only partly confined");
    }
    options.roots.given = roots;
    Ok(())
}

/// Parses an address, or a port on this machine.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let local =
        |port: &str| port.parse().ok().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let named = || local(text.strip_prefix("localhost:").or(text.strip_prefix(':')).unwrap_or(text));
    let address = text.parse().ok().or_else(named);
    address.ok_or_else(|| "expected an address such as 127.0.0.1:7777, or a port".into())
}

fn print_address(address: SocketAddr, new_token: Option<&str>) {
    print_note(&format!("listening on http://{address}{}", HttpOptions::PATH));
    if let Some(token) = new_token {
        print_note(&format!(
            "clients must send this header (valid until the server stops): Authorization: Bearer {token}"
        ));
        print_note("use --token-file FILE to keep a token across restarts, or --no-token to do without");
    }
}

/// Prints a message to stderr, because stdout may belong to the client.
fn print_note(text: &str) {
    // If stderr can't be written, there is nowhere left to report it.
    let _ = writeln!(std::io::stderr(), "slipstitch mcp: {text}");
}

fn error_report(error: &ServeError) -> CommandError {
    let (status, code) = match error {
        ServeError::Catalogue(_) => (Status::Invalid, "bad_dialect"),
        ServeError::Roots(_) => (Status::Invalid, "bad_root"),
        ServeError::Unprotected(_)
        | ServeError::Token(_)
        | ServeError::TokenFile { .. }
        | ServeError::Access(..) => (Status::Invalid, "bad_access"),
        _ => (Status::Failed, "server_error"),
    };
    Report::custom(status, code, error.to_string()).hint(error.hint()).into()
}
