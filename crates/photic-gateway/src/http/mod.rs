//! HTTP between client, gateway and upstream: bodies, headers, routes, failures.
//!
//! Knows nothing about tenants, upstreams or repair.

mod failure;
pub(crate) mod headers;
mod pieces;
mod refusal;
mod reply_body;
mod request_body;
mod request_target;
mod route;

pub(crate) use failure::{Failure, OverQuota};
pub(crate) use pieces::pieces;
pub(crate) use refusal::Refusal;
pub(crate) use reply_body::{Broken, ReplyBody, ReplyTap, Stream};
pub(crate) use request_body::{Body, Bounds, check_length, declared_length, drain, read};
pub(crate) use request_target::check_target;
pub(crate) use route::{Route, is_complete, path_params, without_version};
