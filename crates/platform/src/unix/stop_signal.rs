use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Calls `stop` when the process gets SIGTERM or SIGINT. Must be called within a runtime.
pub fn on_stop(stop: impl Fn() + Clone + Send + 'static) -> io::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signal = signal(kind)?;
        let stop = stop.clone();
        tokio::spawn(async move {
            signal.recv().await;
            stop();
        });
    }
    Ok(())
}
