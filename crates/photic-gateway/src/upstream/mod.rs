//! Upstreams: the providers and local servers that requests are sent to, and their profiles.

mod address;
mod cause;
mod client;
mod connections;
mod credentials;
mod health;
mod itself;
mod key_family;
mod model_routes;
mod profiles;
mod provider;
mod secret;
mod sign;
mod trail;
mod upstreams;

use std::time::Duration;

use photic_net::Timeouts;

pub(crate) use cause::Cause;
pub(crate) use client::{UpstreamClient, pass_on};
pub(crate) use connections::shared_client;
pub(crate) use health::Availability;
pub(crate) use itself::is_itself;
pub(crate) use model_routes::{ModelRoutes, Picked};
pub(crate) use profiles::{Profiles, ResolvedProfile, ResolvedRoute};
pub(crate) use provider::Upstream;
pub(crate) use trail::Trail;
pub(crate) use upstreams::Upstreams;

use crate::config::Config;

/// Returns the time limits of connections to upstreams.
pub(crate) fn timeouts(config: &Config) -> Timeouts {
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    Timeouts {
        connect: seconds(config.timeouts.connect_s),
        answer: seconds(config.timeouts.answer_s),
        ..Timeouts::default()
    }
}
