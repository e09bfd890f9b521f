//! How long the engine has computed for one call.
//!
//! When the input ends, calls that were read are still executed, but not at any price. Neither the clock nor the time of the
//! whole process can say when a call has had enough: another process may hold a lock or the processor, and a client may
//! have piped so many requests that reading them took long. So the time of the thread that works on the call counts.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use slipstitch_platform::process::{ThreadStatistics, process_cpu_time, thread_cpu_time};
use tokio_util::sync::CancellationToken;

/// How long a call may go on when the server stops, unless it is already writing.
pub(crate) const STOP_GRACE: Duration = Duration::from_millis(100);

/// How much a call may compute once the input has ended. A script that pipes its requests wants the answers, so calls that
/// were read are not dropped at once.
const MAX_CPU_AFTER_END: Duration = Duration::from_millis(150);

/// How often that is checked.
const CPU_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// The thread on which the engine works on a call, once it has started.
#[derive(Debug, Clone, Default)]
pub(crate) struct EngineThread(Arc<OnceLock<Start>>);

#[derive(Debug)]
struct Start {
    /// Where the system says how long the thread has computed.
    statistics: Option<ThreadStatistics>,
    /// How long it had computed before, for other calls.
    thread: Duration,
    process: Duration,
}

impl EngineThread {
    /// Notes that the call starts on the current thread.
    pub(crate) fn start(&self) {
        self.0.get_or_init(|| Start {
            statistics: ThreadStatistics::of_this_thread(),
            thread: thread_cpu_time(),
            process: process_cpu_time(),
        });
    }

    /// Waits until a process that ends need not wait for the thread any more: soon after `stopping` is cancelled, or when
    /// `closing` is and the thread has computed for long.
    pub(crate) async fn had_enough(&self, stopping: &CancellationToken, closing: &CancellationToken) {
        let stopped = async {
            stopping.cancelled().await;
            tokio::time::sleep(STOP_GRACE).await;
        };
        let computed_long = async {
            closing.cancelled().await;
            while self.cpu_time() < MAX_CPU_AFTER_END {
                tokio::time::sleep(CPU_CHECK_INTERVAL).await;
            }
        };
        tokio::select! {
            () = stopped => {}
            () = computed_long => {}
        }
    }

    /// How long the thread has computed since the start. On a system that does not say, how long the process has.
    pub(crate) fn cpu_time(&self) -> Duration {
        let Some(start) = self.0.get() else { return Duration::ZERO };
        match start.statistics.as_ref().and_then(ThreadStatistics::cpu_time) {
            Some(now) => now.saturating_sub(start.thread),
            None => process_cpu_time().saturating_sub(start.process),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::sync::Barrier;
    use std::thread;

    /// Computes until the thread's clock shows that it took that long.
    fn compute(duration: Duration) {
        let start = thread_cpu_time();
        while thread_cpu_time().saturating_sub(start) < duration {
            black_box((0..1000).sum::<u64>());
        }
    }

    #[test]
    fn counts_what_the_thread_computes_for_the_call_and_nothing_else() {
        const LONG: Duration = Duration::from_millis(60);
        let (call, meet) = (EngineThread::default(), Barrier::new(2));
        assert_eq!(call.cpu_time(), Duration::ZERO, "it has not started");
        let [others, own] = thread::scope(|scope| {
            scope.spawn(|| {
                compute(LONG);
                call.start();
                meet.wait();
                meet.wait();
                compute(LONG);
                meet.wait();
                meet.wait();
            });
            meet.wait();
            compute(LONG);
            let others = call.cpu_time();
            meet.wait();
            meet.wait();
            let own = call.cpu_time();
            meet.wait();
            [others, own]
        });
        let is_known = ThreadStatistics::of_this_thread().is_some_and(|own| own.cpu_time().is_some());
        assert!(!is_known || others < LONG / 2, "{others:?}");
        assert!(own > LONG / 2, "{own:?}");
    }
}
