//! Codex: its base URL is a setting, which `-c` overrides for one run.
//!
//! Its configuration is only read: which provider it uses, and whether it is logged in with
//! `ChatGPT`, whose requests go to another host than those with a key.

use std::path::Path;

use photic_gateway::Family;
use toml::Table;

use super::Preparation;
use crate::run::destination::GATEWAY;
use crate::run::launch::Launch;

/// The base URL with a `ChatGPT` login.
const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";
/// The variable for local models, and where they are.
const OSS: &str = "CODEX_OSS_BASE_URL";
const OSS_PROVIDERS: [(&str, &str); 2] =
    [("ollama", "http://127.0.0.1:11434/v1"), ("lmstudio", "http://127.0.0.1:1234/v1")];

/// Adds the override, or sets the variable for local models.
pub(super) fn prepare(launch: &mut Launch, context: &Preparation<'_>) -> anyhow::Result<()> {
    let words = launch.command.iter().skip(context.at);
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let arguments = Arguments::of(&words);
    if words.iter().any(|word| word == "--oss") {
        return prepare_local(launch, context, arguments.option("--local-provider"));
    }
    let home = context.environment.folder("CODEX_HOME", ".codex");
    let config = home.as_deref().and_then(|home| config(&home.join("config.toml")));
    let config = config.unwrap_or_default();
    let profile = arguments.option("--profile").or_else(|| arguments.option("-p"));
    let profile = profile.or_else(|| config.get("profile")?.as_str());
    let text = |name: &str| {
        let of_profile = profile.and_then(|name| config.get("profiles")?.get(name));
        let found = of_profile.and_then(|table| table.get(name)).or_else(|| config.get(name));
        found.and_then(toml::Value::as_str)
    };
    // An address on the command line is the user's own.
    if arguments.setting("openai_base_url").is_some() {
        return Ok(());
    }
    let provider = arguments.setting("model_provider").or_else(|| text("model_provider"));
    if let Some(provider) = provider.filter(|name| *name != "openai") {
        let known =
            config.get("model_providers").and_then(|all| all.get(provider)?.get("base_url"));
        if let Some(url) = known.and_then(toml::Value::as_str) {
            let link = launch.lead("codex-provider", url)?;
            set(launch, context.at, &format!("model_providers.{provider}.base_url"), &link);
        }
        return Ok(());
    }
    let is_named = context.is_flagged || context.bases.of_family(Family::OPENAI).is_some();
    let with_chatgpt = || home.as_deref().is_some_and(|home| uses_chatgpt(&home.join("auth.json")));
    let has_key = context.environment.get("CODEX_API_KEY").is_some();
    let link = match text("openai_base_url") {
        Some(url) if !context.is_flagged => launch.lead("codex", url)?,
        None if !is_named && !has_key && with_chatgpt() => launch.lead("chatgpt", CHATGPT)?,
        _ => format!("{GATEWAY}/openai/v1"),
    };
    set(launch, context.at, "openai_base_url", &link);
    Ok(())
}

/// Adds a setting. Codex takes `-c` before its subcommand.
fn set(launch: &mut Launch, at: usize, name: &str, url: &str) {
    launch.insert(at, &["-c".to_owned(), format!("{name}=\"{url}\"")]);
}

/// Sets the variable for local models. Without it and without `--local-provider`, Codex looks for a
/// server itself, and is left alone.
fn prepare_local(
    launch: &mut Launch,
    context: &Preparation<'_>,
    provider: Option<&str>,
) -> anyhow::Result<()> {
    if context.environment.get(OSS).is_some() {
        return Ok(());
    }
    let known = OSS_PROVIDERS.iter().find(|(name, _)| Some(*name) == provider);
    if let Some((_, url)) = known {
        let link = launch.lead("codex-oss", url)?;
        launch.set(OSS, link);
    }
    Ok(())
}

/// Reads `config.toml`.
fn config(path: &Path) -> Option<Table> {
    std::fs::read_to_string(path).ok()?.parse().ok()
}

/// Returns `true` if the saved login is one of `ChatGPT`, and no key.
fn uses_chatgpt(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let login: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    match login["auth_mode"].as_str() {
        Some(mode) => mode.eq_ignore_ascii_case("chatgpt"),
        None => login["tokens"].is_object() && login["OPENAI_API_KEY"].is_null(),
    }
}

/// The arguments of Codex.
#[derive(Debug)]
struct Arguments<'w>(&'w [String]);

impl<'w> Arguments<'w> {
    const fn of(words: &'w [String]) -> Self {
        Self(words)
    }

    /// The value of an option, as `--name value` or `--name=value`.
    fn option(&self, name: &str) -> Option<&'w str> {
        self.options(name).next()
    }

    fn options(&self, name: &str) -> impl Iterator<Item = &'w str> {
        let words = self.0;
        words.iter().enumerate().filter_map(move |(at, word)| {
            let rest = word.strip_prefix(name)?;
            match rest.strip_prefix('=') {
                _ if rest.is_empty() => words.get(at + 1).map(String::as_str),
                Some(value) => Some(value),
                None if !name.starts_with("--") => Some(rest),
                None => None,
            }
        })
    }

    /// The value of a setting that `-c` or `--config` overrides, without quotes.
    fn setting(&self, name: &str) -> Option<&'w str> {
        let all = self.options("-c").chain(self.options("--config"));
        let value = all.filter_map(|one| one.split_once('='));
        let found = value.filter(|(key, _)| key.trim() == name).last()?;
        Some(found.1.trim().trim_matches(['"', '\'']))
    }
}
