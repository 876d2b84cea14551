//! HTTP between client, gateway and upstream: bodies, headers, routes, failures.
//!
//! Knows nothing about tenants, upstreams or repair.

mod batch;
mod endpoint;
mod failure;
pub(crate) mod headers;
mod passed;
mod paths;
mod pieces;
mod place;
mod refusal;
mod reply_body;
mod request_body;
mod request_target;
mod route;
mod upgrade;

pub(crate) use photic_encoding::{ReplyDecoder, codings};

pub(crate) use batch::{BatchTurn, carries_files, is_upload, messages_batch, uploaded_batch};
pub(crate) use endpoint::Endpoint;
pub(crate) use failure::{
    Failure, HalfRequest, NotMetered, OverBudget, OverQuota, Resting, TokenProblem,
};
pub(crate) use passed::{PASSED, Passed, could_hold_pictures};
pub(crate) use paths::{is_below, is_complete, without_version};
pub(crate) use pieces::pieces;
pub(crate) use place::{ConnectionPlace, HoldPlace};
pub(crate) use refusal::Refusal;
pub(crate) use reply_body::{Broken, ReplyBody, ReplyTap, Stream};
pub(crate) use request_body::{
    Body, Bounds, check_length, declared_length, decode, drain, lift_part, read,
};
pub(crate) use request_target::check_target;
pub(crate) use route::Route;
pub(crate) use upgrade::asks_for_socket;
