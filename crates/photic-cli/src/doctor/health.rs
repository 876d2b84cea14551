//! Whether everything is set up: endpoint, keys, facts, config, store, renderers, terminal.
//!
//! Says that a key is there, never what it is; no address is printed with what stands before its
//! host or behind its path.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use photic::profile::Capability;
use photic_net::{Client, Outgoing, Timeouts};
use photic_store::LocalStore;
use serde::Serialize;

use crate::arguments::DoctorOptions;
use crate::style::{GREEN, Hint, RED, YELLOW};
use crate::{preview, view};

/// How one thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// As it should be.
    Good,
    /// It could be better; nothing depends on it.
    Note,
    /// It will not work.
    Bad,
}

#[derive(Debug, Serialize)]
struct Item {
    what: &'static str,
    state: State,
    says: String,
}

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
    let is_well = checks.iter().all(|check| check.state != State::Bad);
    let mut out = anstream::stdout().lock();
    if options.json {
        let report = serde_json::json!({"is_well": is_well, "checks": checks});
        writeln!(out, "{report:#}")?;
    } else {
        for Item { what, state, says } in &checks {
            let (color, word) = match state {
                State::Good => (GREEN, "good"),
                State::Note => (YELLOW, "note"),
                State::Bad => (RED, "bad"),
            };
            writeln!(out, "{color}{word:<4}{color:#}  {what:<16}  {says}")?;
        }
    }
    Ok(ExitCode::from(u8::from(!is_well)))
}

const fn item(what: &'static str, state: State, says: String) -> Item {
    Item { what, state, says }
}

/// Whoever speaks HTTP is there, unless it only says that somebody behind it is not.
fn reach(endpoint: &str) -> anyhow::Result<Item> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shown = redacted(endpoint);
    if !(endpoint.starts_with("http://") || endpoint.starts_with("https://")) {
        let hint = Hint("an address begins with `http://` or `https://`");
        bail!(anyhow::anyhow!("`{shown}` is no address").context(hint));
    }
    let short = Timeouts {
        connect: Duration::from_secs(5),
        answer: Duration::from_secs(10),
        keep: Duration::from_secs(1),
    };
    let request = http::Request::get(endpoint)
        .body(Outgoing::empty())
        .with_context(|| format!("`{shown}` is no address"))?;
    let reply = runtime.block_on(async { Client::new(short).send(request).await });
    let what = "endpoint";
    Ok(match reply {
        Ok(reply) if reply.status().is_server_error() => {
            item(what, State::Bad, format!("{shown} is in trouble ({})", reply.status()))
        }
        Ok(_) => item(what, State::Good, format!("{shown} answers")),
        Err(error) => item(what, State::Bad, format!("{shown} does not answer: {error}")),
    })
}

/// Scheme and host: names, passwords and queries are nobody's business.
fn redacted(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    scheme + host
}

/// The variables that SDKs read keys from.
const KEYS: [&str; 9] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
];

fn credentials(options: &DoctorOptions) -> Item {
    let is_set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let set: Vec<&str> = KEYS.into_iter().filter(is_set).collect();
    let is_local = options.endpoint.as_deref().is_some_and(|endpoint| {
        let shown = redacted(endpoint);
        ["//127.", "//localhost", "//[::1]"].iter().any(|host| shown.contains(host))
    });
    match (set.is_empty(), is_local) {
        (false, _) => item("credentials", State::Good, format!("{} set", set.join(", "))),
        (true, true) => item(
            "credentials",
            State::Note,
            "no key is set; a server on this machine may want none".to_owned(),
        ),
        (true, false) => {
            item("credentials", State::Bad, format!("none of {} is set", KEYS.join(", ")))
        }
    }
}

fn facts(options: &DoctorOptions) -> Item {
    let model = options.model.as_deref();
    let profile = options
        .wire
        .map_or_else(|| view::profile(model), |wire| photic::profile::resolve(wire, model, None));
    let oldest = profile.facts.iter().map(|fact| fact.as_of.as_str()).min().unwrap_or("unknown");
    let id = &profile.id;
    match (model, profile.sight.images) {
        (None, _) => item("facts", State::Note, "no model was named: `--model MODEL`".to_owned()),
        (Some(_), Capability::Yes) => item(
            "facts",
            State::Good,
            format!("profile `{id}`: sees images; oldest fact of {oldest}"),
        ),
        (Some(_), Capability::Unknown) => item(
            "facts",
            State::Note,
            format!("profile `{id}`: not known whether it sees images; `photic probe` finds out"),
        ),
        (Some(_), Capability::No) => {
            item("facts", State::Bad, format!("profile `{id}`: this model sees no images"))
        }
    }
}

fn config() -> Item {
    let what = "config";
    match crate::settings::load(None) {
        Ok(settings) => match settings.source.not_read() {
            Some(word) => item(what, State::Note, format!("{}; {word}", settings.source)),
            None => item(what, State::Good, settings.source.to_string()),
        },
        Err(error) => item(what, State::Bad, format!("{error:#}")),
    }
}

fn store(options: &DoctorOptions) -> Item {
    let what = "store";
    let Some(folder) = options.store.clone().or_else(LocalStore::usual_directory) else {
        return item(
            what,
            State::Note,
            "this system has no place for it: `--store DIR`".to_owned(),
        );
    };
    if !folder.exists() {
        return item(
            what,
            State::Good,
            "not there yet: it is made when something is kept".to_owned(),
        );
    }
    match LocalStore::open(&folder) {
        Ok(_) => item(what, State::Good, format!("`{}` opens", folder.display())),
        Err(error) => item(what, State::Bad, format!("`{}`: {error}", folder.display())),
    }
}

#[cfg(feature = "render")]
fn renderer(what: &'static str, missing: Option<photic_render::Refusal>) -> Item {
    match missing {
        None => item(what, State::Good, "can be drawn".to_owned()),
        Some(refusal) => item(what, State::Note, format!("{}; {}", refusal.says, refusal.hint)),
    }
}

fn terminal() -> Item {
    let what = "terminal preview";
    match preview::support() {
        Some(way) => item(what, State::Good, format!("pictures are drawn with {way}")),
        None => item(what, State::Note, "pictures are not drawn here".to_owned()),
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
