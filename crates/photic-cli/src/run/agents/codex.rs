//! Codex: its base URL is a setting, which `-c` overrides for one run.
//!
//! Its configuration is only read: which provider it uses, and its login. A login with `ChatGPT` and
//! a key are for different hosts, and Codex sends what it has to any base URL that it is given. So
//! the login decides, and `OPENAI_BASE_URL`, which Codex does not read, never gets a saved one.

use std::path::Path;

use photic_gateway::Family;
use toml::Table;

use super::Preparation;
use crate::run::destination::GATEWAY;
use crate::run::environment::Environment;
use crate::run::launch::Launch;

/// The base URL with a `ChatGPT` login.
const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";
/// The base URL with a saved key.
const OPENAI: &str = "https://api.openai.com/v1";
/// Options of Codex with a value, which is no subcommand.
const WITH_VALUE: [&str; 19] = [
    "-c",
    "--config",
    "-i",
    "--image",
    "-m",
    "--model",
    "--local-provider",
    "-p",
    "--profile",
    "-s",
    "--sandbox",
    "-a",
    "--ask-for-approval",
    "-C",
    "--cd",
    "--add-dir",
    "--enable",
    "--disable",
    "--remote",
];
/// Subcommands that read `CODEX_API_KEY`.
const WITHOUT_TERMINAL: [&str; 3] = ["exec", "e", "review"];
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
    let own = text("openai_base_url").filter(|_| !context.is_flagged);
    let through = format!("{GATEWAY}/openai/v1");
    let link = if let Some(url) = own {
        launch.lead("codex", url)?
    } else if context.is_flagged {
        through
    } else {
        let store = arguments.setting("cli_auth_credentials_store");
        let store = store.or_else(|| text("cli_auth_credentials_store"));
        let is_exec = arguments.subcommand().is_some_and(|name| WITHOUT_TERMINAL.contains(&name));
        match Login::of(context.environment, is_exec, store, home.as_deref()) {
            Login::ChatGpt => launch.lead("chatgpt", CHATGPT)?,
            Login::SavedKey if context.bases.of_family(Family::OPENAI).is_some() => {
                launch.lead("codex", OPENAI)?
            }
            Login::Variable | Login::SavedKey => through,
            // It cannot log in, so there is nothing to send.
            Login::Nothing if is_exec => through,
            Login::Nothing => {
                launch.note(
                    "Codex is not logged in, and its login decides about its base URL: start it \
                     again once it is",
                );
                return Ok(());
            }
            Login::Unknown => {
                launch.note(
                    "photic cannot read the login of Codex, which decides about its base URL, so \
                     its requests go past the gateway; `openai_base_url` in \
                     `~/.codex/config.toml` sends them through it",
                );
                return Ok(());
            }
        }
    };
    set(launch, context.at, "openai_base_url", &link);
    Ok(())
}

/// The login that Codex will use with `OpenAI`'s provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Login {
    /// The key in `CODEX_API_KEY`.
    Variable,
    /// A key in `auth.json`.
    SavedKey,
    ChatGpt,
    Nothing,
    /// One that photic does not read, such as in the keyring of the system.
    Unknown,
}

impl Login {
    /// Finds the login in the order of Codex.
    fn of(
        environment: &Environment,
        is_exec: bool,
        store: Option<&str>,
        home: Option<&Path>,
    ) -> Self {
        if is_exec && environment.get("CODEX_API_KEY").is_some() {
            return Self::Variable;
        }
        if environment.get("CODEX_ACCESS_TOKEN").is_some() {
            return Self::Unknown;
        }
        let saved = home.map_or(Self::Nothing, |home| Self::saved(&home.join("auth.json")));
        match store {
            None | Some("file") => saved,
            // The file is used only if the keyring could not be.
            Some("auto") if saved != Self::Nothing => saved,
            Some(_) => Self::Unknown,
        }
    }

    /// Reads `auth.json`.
    fn saved(path: &Path) -> Self {
        let Ok(text) = std::fs::read_to_string(path) else { return Self::Nothing };
        let login: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        match login["auth_mode"].as_str().map(str::to_ascii_lowercase).as_deref() {
            Some("apikey") => Self::SavedKey,
            Some("chatgpt" | "chatgptauthtokens") => Self::ChatGpt,
            Some(_) => Self::Unknown,
            None if login["OPENAI_API_KEY"].is_string() => Self::SavedKey,
            None if login["tokens"].is_object() => Self::ChatGpt,
            None => Self::Nothing,
        }
    }
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

    /// The first word that is neither an option nor its value.
    fn subcommand(&self) -> Option<&'w str> {
        let mut words = self.0.iter();
        while let Some(word) = words.next() {
            if WITH_VALUE.contains(&word.as_str()) {
                words.next();
            } else if !word.starts_with('-') {
                return Some(word);
            }
        }
        None
    }

    /// The value of a setting that `-c` or `--config` overrides, without quotes.
    fn setting(&self, name: &str) -> Option<&'w str> {
        let all = self.options("-c").chain(self.options("--config"));
        let value = all.filter_map(|one| one.split_once('='));
        let found = value.filter(|(key, _)| key.trim() == name).last()?;
        Some(found.1.trim().trim_matches(['"', '\'']))
    }
}
