//! Signs of life while a tool works, for hosts that asked for them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;

/// Work that is done by then needs no sign.
const FIRST: Duration = Duration::from_millis(300);
/// How often there is one.
const EVERY: Duration = Duration::from_secs(1);

/// What is being done, in a few words that change with the work.
pub(crate) struct Says(Mutex<String>);

impl Says {
    pub(crate) fn new(words: &str) -> Self {
        Self(Mutex::new(words.to_owned()))
    }

    pub(crate) fn set(&self, words: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    fn words(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The work, unless the host takes its request back: then it is dropped where it stands.
pub(crate) async fn watched<T>(
    context: &RequestContext<RoleServer>,
    says: &Says,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        () = context.ct.cancelled() => None,
        done = work => Some(done),
        () = tell(context, says) => None,
    }
}

/// Tells until it is dropped.
async fn tell(context: &RequestContext<RoleServer>, says: &Says) {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    tokio::time::sleep(FIRST).await;
    let mut told = 0.0;
    loop {
        told += 1.0;
        let sign = ProgressNotificationParam::new(token.clone(), told).with_message(says.words());
        // A host that is gone takes its request back by itself.
        let _ = context.peer.notify_progress(sign).await;
        tokio::time::sleep(EVERY).await;
    }
}
