use std::io;

use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};

/// Calls `stop` for Ctrl-C, Ctrl-Break and when the console is closed. Must be called within a runtime.
pub fn on_stop(stop: impl Fn() + Clone + Send + 'static) -> io::Result<()> {
    let (mut c, mut pause, mut close) = (ctrl_c()?, ctrl_break()?, ctrl_close()?);
    tokio::spawn(async move {
        tokio::select! {
            _ = c.recv() => {}
            _ = pause.recv() => {}
            _ = close.recv() => {}
        }
        stop();
    });
    Ok(())
}
