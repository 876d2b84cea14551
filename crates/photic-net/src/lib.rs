//! Network access for photic. All outgoing connections are made here: [`Client`] sends requests to
//! model providers, and [`fetch`] downloads pictures from untrusted URLs without reaching private
//! networks. [`HostCheck`] protects listeners from requests of web pages.
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
//! Private addresses are not fetched:
//!
//! ```
//! use std::sync::Arc;
//!
//! use photic_net::fetch::{Fetch, Refusal, Rules, System};
//!
//! let rules = Rules::new(|bytes| bytes.starts_with(b"\x89PNG"));
//! let fetch = Fetch::new(rules, Arc::new(System));
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! let refused = fetch.get("http://169.254.169.254/latest/meta-data/").await;
//! assert_eq!(refused, Err(Refusal::NotPublic));
//! # });
//! ```
//!
//! The client speaks HTTP/1.1 and HTTP/2, pools connections, and uses rustls with the certificate
//! roots of the system. It sends a body in the chunks it is given, without joining them.
//!
//! | module | purpose |
//! |---|---|
//! | `client` | pooled HTTP client, timeouts |
//! | `options` | certificates, server name, proxy and version of HTTP of a client |
//! | `proxy` | HTTP proxies, and the tunnel through them |
//! | `body` | outgoing bodies: chunks or a stream |
//! | `error` | errors of requests without a reply |
//! | `connect_failure` | the reasons for which no connection is made |
//! | [`fetch`] | guarded download of untrusted URLs |
//! | `host_check` | checks of `Host` and `Origin` for listeners |
//! | `lookup` | DNS lookup |
//! | [`websocket`] | messages of WebSockets, with compression and bounds |
//!
//! # What it does not do
//!
//! The client follows no redirects and does not restrict whom it talks to. Neither it nor the fetch
//! keeps cookies, decodes a content encoding, or reads proxy settings from the environment by itself
//! ([`ProxyChoice::from_variables`] does).

mod body;
mod client;
mod connect_failure;
mod error;
pub mod fetch;
mod host_check;
mod lookup;
mod options;
mod proxy;
pub mod websocket;

pub use body::Outgoing;
pub use client::{Client, Timeouts};
pub use connect_failure::ConnectFailure;
pub use error::Error;
pub use host_check::{HostCheck, Refused};
pub use hyper::body::Incoming;
pub use lookup::lookup_addresses;
pub use options::{ClientOptions, HttpVersion, IdentityFiles, OptionsError};
pub use proxy::{InvalidProxy, NoProxy, Proxy, ProxyChoice};
