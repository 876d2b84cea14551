//! Every connection photic opens itself: the client that talks to model providers.
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
//! It follows no redirects, keeps no cookies, decodes no content encoding, and reads no proxy
//! settings from the environment. Whom to talk to is the caller's decision.

mod addresses;
mod body;
mod client;
mod error;

pub use addresses::addresses;
pub use body::Outgoing;
pub use client::{Client, Timeouts};
pub use error::Error;
pub use hyper::body::Incoming;
