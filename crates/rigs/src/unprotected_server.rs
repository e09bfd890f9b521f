//! The MCP server without its protections: `clients/load.py --unprotected` must see it lose edits.

use std::io::Write;
use std::net::SocketAddr;

use slipstitch::{Fsync, Overrides};
use slipstitch_mcp::{HttpOptions, Options, RootSource, serve_http, serve_stdio};

/// Serves until the client disconnects. Arguments: root, state folder, and for HTTP `--http` and an address.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let (root, state, address) = match args {
        [root, state] => (root, state, None),
        [root, state, http, address] if http == "--http" => (root, state, Some(address)),
        _ => return Err("usage: torture worker serve ROOT STATE [--http ADDR]".into()),
    };
    let options = Options {
        roots: RootSource { given: vec![root.into()], ..RootSource::default() },
        overrides: Overrides {
            state_dir: Some(state.into()),
            fsync: Some(Fsync::Off),
            ..Overrides::default()
        },
        ..Options::default()
    };
    slipstitch::disk::disable_protections();
    let served = match address {
        None => serve_stdio(options),
        Some(text) => {
            let address: SocketAddr =
                text.parse().map_err(|error| format!("invalid address `{text}`: {error}"))?;
            serve_http(options, HttpOptions::new(address), print_address)
        }
    };
    served.map_err(|error| error.to_string())
}

/// Prints the address in the format of `slipstitch mcp --http`; port 0 was replaced by a free port.
fn print_address(address: SocketAddr) {
    // If this fails, the client times out waiting for the line.
    let _ = writeln!(std::io::stderr(), "listening on http://{address}{}", HttpOptions::PATH);
}
