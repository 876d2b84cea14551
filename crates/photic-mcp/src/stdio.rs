//! The server on standard input and output: one host, one process.
//!
//! Must never write anything but protocol to standard output.

use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::io::stdio_pipes;

use crate::server::Server;

/// Why a server on standard input and output ended badly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// The host did not begin as the protocol says. What it said instead is not repeated.
    #[error("the host did not begin a session as MCP says")]
    Begin,
    /// A task of ours broke.
    #[error("the server broke off")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves until the host closes its end, or `stop` is done.
pub async fn serve_stdio(server: Server, stop: impl Future<Output = ()>) -> Result<(), StdioError> {
    let mut stop = std::pin::pin!(stop);
    let begun = tokio::select! {
        begun = rmcp::serve_server(server, stdio_pipes()) => begun,
        () = &mut stop => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        // It left before it said anything: nobody is wronged.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(_) => return Err(StdioError::Begin),
    };
    let cancel = running.cancellation_token();
    let ended = running.waiting();
    let mut ended = std::pin::pin!(ended);
    let quit = tokio::select! {
        quit = &mut ended => quit,
        () = &mut stop => {
            cancel.cancel();
            ended.await
        }
    };
    match quit {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(StdioError::Broken(error)),
        Ok(_) => Ok(()),
    }
}
