//! Agents that read their base URL from somewhere else than the environment, or need more than that.
//!
//! The table is `data/agents.toml`. An agent is recognized by the name of its command, also behind a
//! launcher such as `npx`.

mod codex;
mod config_copy;
mod gemini;

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use super::base_urls::BaseUrls;
use super::destination::GATEWAY;
use super::environment::Environment;
use super::launch::Launch;
use config_copy::ConfigCopy;

/// The table.
static TABLE: &str = include_str!("../../../data/agents.toml");
/// Commands that start the command among their arguments, and words before it that are no command.
const LAUNCHERS: [&str; 12] =
    ["npx", "bunx", "pnpx", "uvx", "npm", "pnpm", "yarn", "bun", "uv", "node", "env", "nohup"];
/// Options of launchers with a value, which is no command.
const LAUNCHER_OPTIONS: [&str; 4] = ["-p", "--package", "--from", "--python"];
const LAUNCHER_WORDS: [&str; 7] = ["exec", "dlx", "run", "tool", "x", "--", "-y"];

/// An agent of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    pub(crate) name: String,
    /// The names of its command.
    commands: Vec<String>,
    /// The registry and the name of its package.
    package: String,
    /// The version that this row was tried with, and the day.
    #[expect(dead_code, reason = "for readers of the table, and for the suite that installs it")]
    version: String,
    #[expect(dead_code, reason = "for readers of the table")]
    tried: String,
    /// The variables from which it reads base URLs.
    #[serde(default)]
    reads: Vec<String>,
    /// The arguments that are added before its first one.
    #[serde(default)]
    arguments: Vec<String>,
    /// More than variables and arguments.
    #[serde(default)]
    special: Option<Special>,
    /// The configuration of which it gets a changed copy.
    copy: Option<ConfigCopy>,
    /// The setting to change by hand, if it made no request.
    pub(crate) hint: String,
}

/// Agents whose own settings decide what is added.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Special {
    Codex,
    Gemini,
}

/// A recognized agent, and the place of its arguments in the command.
#[derive(Debug)]
pub(crate) struct Recognized {
    pub(crate) agent: Agent,
    /// The place of the agent's first argument.
    arguments: usize,
    /// Set if `--` must come before arguments that are added.
    needs_separator: bool,
}

/// Reads the table.
fn table() -> anyhow::Result<Vec<Agent>> {
    #[derive(Deserialize)]
    struct Table {
        agent: Vec<Agent>,
    }
    let table: Table = toml::from_str(TABLE).context("`agents.toml` is not valid")?;
    Ok(table.agent)
}

/// Finds the agent that a command starts.
pub(crate) fn recognize(command: &[OsString]) -> anyhow::Result<Option<Recognized>> {
    let agents = table()?;
    let words: Vec<&str> = command.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let Some(first) = words.first() else { return Ok(None) };
    let at = if LAUNCHERS.contains(&stem(first)) { launched(&words) } else { Some(0) };
    let Some((at, word)) = at.and_then(|at| Some((at, *words.get(at)?))) else { return Ok(None) };
    let Some(agent) = agents.into_iter().find(|agent| agent.is_named(word)) else {
        return Ok(None);
    };
    // Up to `--`, npm takes options for its own.
    let separator = words.iter().position(|word| *word == "--");
    let is_npm = at > 0 && stem(first) == "npm";
    let after = separator.filter(|separator| is_npm && *separator > at).unwrap_or(at);
    let needs_separator = is_npm && separator.is_none();
    Ok(Some(Recognized { agent, arguments: after + 1, needs_separator }))
}

/// The place of the command that a launcher starts.
fn launched(words: &[&str]) -> Option<usize> {
    let is_command = |at: &usize| {
        let word = words[*at];
        !word.starts_with('-')
            && !word.contains('=')
            && !LAUNCHER_WORDS.contains(&word)
            && !LAUNCHER_OPTIONS.contains(&words[*at - 1])
    };
    (1..words.len()).find(is_command)
}

impl Agent {
    /// Returns `true` if a word of a command is its name, its path or its package.
    fn is_named(&self, word: &str) -> bool {
        let package = self.package.split_once(':').map_or("", |(_, name)| name);
        // An `@` may also be part of a folder, and the first one belongs to the scope of a package.
        let last = word.rfind('/').map_or(0, |at| at + 1);
        let version = word.rfind('@').filter(|at| *at > last);
        let unversioned = &word[..version.unwrap_or(word.len())];
        (!package.is_empty() && unversioned == package)
            || self.commands.iter().any(|name| name == stem(unversioned))
    }
}

impl Recognized {
    /// Adds to the launch what this agent needs.
    pub(crate) fn prepare(
        &self,
        launch: &mut Launch,
        environment: &Environment,
        bases: &BaseUrls,
        is_flagged: bool,
    ) -> anyhow::Result<()> {
        let context = Preparation { environment, bases, at: self.arguments, is_flagged };
        match self.agent.special {
            Some(Special::Codex) => codex::prepare(launch, &context)?,
            Some(Special::Gemini) => gemini::prepare(launch, &context),
            None => {}
        }
        if let Some(copy) = &self.agent.copy {
            copy.prepare(launch, &context, &self.agent.commands[0]);
        }
        let arguments: Vec<String> = self.agent.arguments.iter().map(|one| filled(one)).collect();
        launch.insert(context.at, &arguments);
        if self.needs_separator && !launch.added.is_empty() {
            launch.command.insert(context.at, "--".into());
        }
        Ok(())
    }

    /// The sentence for a command that made no request.
    pub(crate) fn hint(&self) -> String {
        let Agent { name, reads, hint, .. } = &self.agent;
        let reads = match reads.as_slice() {
            [] => String::new(),
            names => format!(" It reads `{}`.", names.join("`, `")),
        };
        format!("{name}: {hint}{reads}")
    }
}

/// Facts that the preparation of an agent depends on.
#[derive(Debug)]
struct Preparation<'r> {
    environment: &'r Environment,
    bases: &'r BaseUrls,
    /// The place of the agent's first argument.
    at: usize,
    /// Set if `--upstream` names where requests of OpenAI's wires go.
    is_flagged: bool,
}

/// Replaces `{openai}` and the like by the prefix of the family.
fn filled(text: &str) -> String {
    photic_gateway::Family::all().into_iter().fold(text.to_owned(), |text, family| {
        text.replace(&format!("{{{}}}", family.name()), &format!("{GATEWAY}/{}", family.name()))
    })
}

/// The name of a command, without its folder and the ending of its file.
fn stem(word: &str) -> &str {
    let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word);
    let endings = [".exe", ".cmd", ".js", ".mjs", ".cjs"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

#[cfg(test)]
mod tests;
