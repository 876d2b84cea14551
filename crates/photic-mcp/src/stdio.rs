//! The server on standard input and output, for one host.
//!
//! Only the protocol is written to standard output.

use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::io::stdio_pipes;

use crate::server::Server;

/// Error of a server on standard input and output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// The host did not start a session as the protocol requires. Its message is not repeated.
    #[error("the host did not start an MCP session")]
    Begin,
    /// A task of the server panicked.
    #[error("the server stopped unexpectedly")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves until the host closes its end or `stop` is ready.
pub async fn serve_stdio(server: Server, stop: impl Future<Output = ()>) -> Result<(), StdioError> {
    let mut stop = std::pin::pin!(stop);
    let begun = tokio::select! {
        begun = rmcp::serve_server(server, stdio_pipes()) => begun,
        () = &mut stop => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        // The host left before the session began, which is not an error.
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
