//! Progress notifications for hosts that request them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;

/// Delay of the first notification. Shorter work needs none.
const FIRST_DELAY: Duration = Duration::from_millis(300);
/// Interval of notifications.
const INTERVAL: Duration = Duration::from_secs(1);

/// The current activity, as a short text.
pub(crate) struct ProgressMessage(Mutex<String>);

impl ProgressMessage {
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

/// Runs work with progress notifications. Returns `None` if the host cancels the request.
pub(crate) async fn with_progress<T>(
    context: &RequestContext<RoleServer>,
    says: &ProgressMessage,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        () = context.ct.cancelled() => None,
        done = work => Some(done),
        () = tell(context, says) => None,
    }
}

/// Sends notifications until it is dropped.
async fn tell(context: &RequestContext<RoleServer>, says: &ProgressMessage) {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    tokio::time::sleep(FIRST_DELAY).await;
    let mut told = 0.0;
    loop {
        told += 1.0;
        let sign = ProgressNotificationParam::new(token.clone(), told).with_message(says.words());
        // A host that is gone cancels its requests by itself.
        let _ = context.peer.notify_progress(sign).await;
        tokio::time::sleep(INTERVAL).await;
    }
}
