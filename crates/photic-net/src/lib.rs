//! Every connection photic opens itself: the client that talks to model providers, and the guarded
//! [`fetch`] for addresses that nobody vouches for. Listeners get their [`HostCheck`] here.
//!
//! ```no_run
//! # async fn example() -> Result<(), photic_net::Error> {
//! use photic_net::{Client, Outgoing, Timeouts};
//!
//! let client = Client::new(Timeouts::default());
//! let body = Outgoing::pieces(vec!["{\"model\":".into(), "\"m\"}".into()]);
//! let request = http::Request::post("http://127.0.0.1:1234/v1/chat/completions").body(body);
//! let reply = client.send(request.unwrap()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! HTTP/1.1 and HTTP/2, connections kept and used again, TLS by rustls with the roots of the
//! system. A body goes out in the pieces it is given in, without being copied together.
//!
//! # What it does not do
//!
//! The client follows no redirects; whom it talks to is the caller's decision. Neither it nor the
//! fetch keeps cookies, decodes a content encoding, or reads proxy settings from the environment.

mod addresses;
mod body;
mod client;
mod error;
pub mod fetch;
mod host_check;

pub use addresses::addresses;
pub use body::Outgoing;
pub use client::{Client, Timeouts};
pub use error::Error;
pub use host_check::{HostCheck, Refused};
pub use hyper::body::Incoming;
