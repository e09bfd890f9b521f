//! The MCP server without protection, for `clients/load.py` to show that it sees what is lost then.

use std::io::Write;
use std::net::SocketAddr;

use slipstitch::Fsync;
use slipstitch_mcp::{HttpOptions, Options, RootSource, serve_http, serve_stdio};

/// Serves a root until the client is gone. The words are the root, the state folder, and for HTTP `--http` and an address.
pub(crate) fn unprotected(words: &[String]) -> Result<(), String> {
    let (root, state, address) = match words {
        [root, state] => (root, state, None),
        [root, state, http, address] if http == "--http" => (root, state, Some(address)),
        _ => return Err("expected: ROOT STATE [--http ADDR]".into()),
    };
    let options = Options {
        roots: RootSource { given: vec![root.into()], ..RootSource::default() },
        state_dir: Some(state.into()),
        fsync: Some(Fsync::Off),
        ..Options::default()
    };
    slipstitch::disk::disable_protections();
    let served = match address {
        None => serve_stdio(options),
        Some(text) => {
            let address: SocketAddr =
                text.parse().map_err(|error| format!("the address `{text}`: {error}"))?;
            serve_http(options, HttpOptions::new(address), listening)
        }
    };
    served.map_err(|error| error.to_string())
}

/// Says the address as `slipstitch mcp` does: port 0 is a free one.
fn listening(address: SocketAddr) {
    // The rig waits for this line; without it, it gives up.
    let _ = writeln!(std::io::stderr(), "listening on http://{address}{}", HttpOptions::PATH);
}
