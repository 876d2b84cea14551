//! Checks of the installation: endpoint, keys, profiles, settings, store, renderers, terminal.
//!
//! Reports that a key is set, never its value. URLs are printed without user names, passwords,
//! paths and queries.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use photic::profile::Capability;
use photic_net::{Client, Outgoing, Timeouts};
use photic_store::LocalStore;
use serde::Serialize;

use crate::arguments::DoctorOptions;
use crate::keys::{KEY_VARIABLES, set_keys};
use crate::model::profile_on_any_wire;
use crate::preview;
use crate::style::{GREEN, Hint, RED, YELLOW};

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckState {
    /// Everything is fine.
    Good,
    /// It could be better, but nothing depends on it.
    Note,
    /// It will not work.
    Bad,
}

/// One check and its result.
#[derive(Debug, Serialize)]
struct HealthCheck {
    what: &'static str,
    state: CheckState,
    says: String,
}

/// Runs the checks.
pub(super) fn run(endpoint: &str, options: &DoctorOptions) -> anyhow::Result<ExitCode> {
    let checks = [
        reach(endpoint)?,
        credentials(options),
        facts(options),
        config(),
        store(options),
        #[cfg(feature = "render")]
        renderer("web pages", photic_render::Browser::find().err()),
        #[cfg(feature = "render")]
        renderer("office documents", photic_render::Office::find().err()),
        terminal(),
    ];
    let is_well = checks.iter().all(|check| check.state != CheckState::Bad);
    let mut out = anstream::stdout().lock();
    if options.json {
        let report = serde_json::json!({"is_well": is_well, "checks": checks});
        writeln!(out, "{report:#}")?;
    } else {
        for HealthCheck { what, state, says } in &checks {
            let (color, word) = match state {
                CheckState::Good => (GREEN, "good"),
                CheckState::Note => (YELLOW, "note"),
                CheckState::Bad => (RED, "bad"),
            };
            writeln!(out, "{color}{word:<4}{color:#}  {what:<16}  {says}")?;
        }
    }
    Ok(ExitCode::from(u8::from(!is_well)))
}

/// Creates the result of a check.
const fn item(what: &'static str, state: CheckState, says: String) -> HealthCheck {
    HealthCheck { what, state, says }
}

/// Checks that the endpoint answers. Any HTTP answer counts, except a server error.
fn reach(endpoint: &str) -> anyhow::Result<HealthCheck> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shown = redacted(endpoint);
    if !(endpoint.starts_with("http://") || endpoint.starts_with("https://")) {
        let hint = Hint("a URL begins with `http://` or `https://`");
        bail!(anyhow::anyhow!("`{shown}` is not a URL").context(hint));
    }
    let short = Timeouts {
        connect: Duration::from_secs(5),
        answer: Duration::from_secs(10),
        keep: Duration::from_secs(1),
    };
    let request = http::Request::get(endpoint)
        .body(Outgoing::empty())
        .with_context(|| format!("`{shown}` is not a URL"))?;
    let reply = runtime.block_on(async { Client::new(short).send(request).await });
    let what = "endpoint";
    Ok(match reply {
        Ok(reply) if reply.status().is_server_error() => item(
            what,
            CheckState::Bad,
            format!("{shown} answers with a server error ({})", reply.status()),
        ),
        Ok(_) => item(what, CheckState::Good, format!("{shown} answers")),
        Err(error) => item(what, CheckState::Bad, format!("{shown} does not answer: {error}")),
    })
}

/// The scheme and host of a URL, without user names, passwords and queries.
fn redacted(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    scheme + host
}

/// Checks that a key is set.
fn credentials(options: &DoctorOptions) -> HealthCheck {
    let set = set_keys();
    let is_local = options.endpoint.as_deref().is_some_and(|endpoint| {
        let shown = redacted(endpoint);
        ["//127.", "//localhost", "//[::1]"].iter().any(|host| shown.contains(host))
    });
    match (set.is_empty(), is_local) {
        (false, _) => item("credentials", CheckState::Good, format!("{} set", set.join(", "))),
        (true, true) => item(
            "credentials",
            CheckState::Note,
            "no key is set; a local server may not need one".to_owned(),
        ),
        (true, false) => {
            let all = KEY_VARIABLES.join(", ");
            item("credentials", CheckState::Bad, format!("none of {all} is set"))
        }
    }
}

/// Checks what is known about the model.
fn facts(options: &DoctorOptions) -> HealthCheck {
    let model = options.model.as_deref();
    let profile = options.wire.map_or_else(
        || profile_on_any_wire(model),
        |wire| photic::profile::resolve(wire, model, None),
    );
    let oldest = profile.facts.iter().map(|fact| fact.as_of.as_str()).min().unwrap_or("unknown");
    let id = &profile.id;
    match (model, profile.sight.images) {
        (None, _) => {
            item("facts", CheckState::Note, "no model given; pass `--for MODEL`".to_owned())
        }
        (Some(_), Capability::Yes) => item(
            "facts",
            CheckState::Good,
            format!("profile `{id}`: sees images; oldest fact of {oldest}"),
        ),
        (Some(_), Capability::Unknown) => item(
            "facts",
            CheckState::Note,
            format!(
                "profile `{id}`: unknown whether it sees images; run `photic probe` to find out"
            ),
        ),
        (Some(_), Capability::No) => item(
            "facts",
            CheckState::Bad,
            format!("profile `{id}`: this model does not see images"),
        ),
    }
}

/// Checks the settings file.
fn config() -> HealthCheck {
    let what = "config";
    match crate::settings::load(None) {
        Ok(settings) => match settings.source.not_read() {
            Some(word) => item(what, CheckState::Note, format!("{}; {word}", settings.source)),
            None => item(what, CheckState::Good, settings.source.to_string()),
        },
        Err(error) => item(what, CheckState::Bad, format!("{error:#}")),
    }
}

/// Checks that the store opens.
fn store(options: &DoctorOptions) -> HealthCheck {
    let what = "store";
    let Some(folder) = options.store.clone().or_else(LocalStore::usual_directory) else {
        return item(
            what,
            CheckState::Note,
            "this system has no state directory; pass `--store DIR`".to_owned(),
        );
    };
    if !folder.exists() {
        return item(what, CheckState::Good, "not created yet".to_owned());
    }
    match LocalStore::open(&folder) {
        Ok(_) => item(what, CheckState::Good, format!("`{}` opens", folder.display())),
        Err(error) => item(what, CheckState::Bad, format!("`{}`: {error}", folder.display())),
    }
}

/// Checks that a renderer is installed.
#[cfg(feature = "render")]
fn renderer(what: &'static str, missing: Option<photic_render::Refusal>) -> HealthCheck {
    match missing {
        None => item(what, CheckState::Good, "supported".to_owned()),
        Some(refusal) => {
            item(what, CheckState::Note, format!("{}; {}", refusal.says, refusal.hint))
        }
    }
}

/// Checks how the terminal shows pictures.
fn terminal() -> HealthCheck {
    let what = "terminal preview";
    match preview::support() {
        Some(mode) => item(what, CheckState::Good, format!("pictures are shown with {mode}")),
        None => item(what, CheckState::Note, "pictures are not supported".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_secrets() {
        assert_eq!(
            redacted("https://me:secret@host.example:8080/v1?key=abc"),
            "https://host.example:8080"
        );
        assert_eq!(redacted("http://127.0.0.1:1/"), "http://127.0.0.1:1");
        assert_eq!(redacted("me:secret@host/path"), "host");
    }
}
