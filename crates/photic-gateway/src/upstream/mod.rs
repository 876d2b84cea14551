//! Upstreams: the providers and local servers that requests are sent to, and their profiles.

mod address;
mod client;
mod itself;
mod key_family;
mod profiles;
mod sign;
mod upstreams;

pub(crate) use client::{UpstreamClient, pass_on};
pub(crate) use itself::is_itself;
pub(crate) use profiles::{Profiles, ResolvedProfile, ResolvedRoute};
pub(crate) use upstreams::{Upstream, Upstreams};
