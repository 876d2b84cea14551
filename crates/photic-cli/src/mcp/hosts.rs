//! Configurations with which MCP hosts start the server, from `data/mcp_hosts.toml`.
//!
//! A host seldom starts its servers in the folder of the project or with the variables of a shell.
//! So paths are absolute, and every variable is named.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arguments::McpOptions;
use crate::inspect::models;

static TABLE: &str = include_str!("../../data/mcp_hosts.toml");
static HOSTS: LazyLock<Vec<McpHost>> =
    LazyLock::new(|| toml::from_str::<Table>(TABLE).map(|table| table.host).unwrap_or_default());

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    host: Vec<McpHost>,
}

/// A program that starts MCP servers, and its configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpHost {
    /// The name that `--print` takes.
    id: String,
    name: String,
    file: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read the snippet in this format"))]
    format: String,
    /// Reference to the environment variable `NAME`.
    variable: String,
    /// Start of the host's own command that adds a server.
    command: Option<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the documentation"))]
    checked: String,
    snippet: String,
}

/// The command line that a host runs, and the variables it needs.
pub(super) struct Launch {
    /// Absolute path of this program.
    program: String,
    arguments: Vec<String>,
    /// Names of environment variables.
    variables: Vec<String>,
}

/// Finds a host by its id.
pub(super) fn find(id: &str) -> anyhow::Result<&'static McpHost> {
    HOSTS.iter().find(|host| host.id == id).with_context(|| {
        let ids: Vec<&str> = HOSTS.iter().map(|host| host.id.as_str()).collect();
        format!("no host is called `{id}`; the known ones are {}", ids.join(", "))
    })
}

impl Launch {
    /// Creates the command line with the same options and absolute paths.
    pub(super) fn of(options: &McpOptions) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        Self::from(options, &program, |name| std::env::var_os(name).is_some())
    }

    fn from(
        options: &McpOptions,
        program: &Path,
        is_set: impl Fn(&str) -> bool,
    ) -> anyhow::Result<Self> {
        let absolute = |path: &Path| {
            let path = std::path::absolute(path)
                .with_context(|| format!("cannot find `{}`", path.display()))?;
            anyhow::Ok(path.to_string_lossy().into_owned())
        };
        let mut arguments = vec!["mcp".to_owned()];
        let mut option = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        let here = [Path::new(".").to_owned()];
        let roots = if options.root.is_empty() { &here[..] } else { &options.root };
        for root in roots {
            option("--root", absolute(root)?);
        }
        if let Some(store) = &options.store {
            option("--store", absolute(store)?);
        }
        if let Some(model) = &options.model {
            option("--model", model.clone());
        }
        if let Some(model) = &options.viewer {
            option("--for", model.clone());
        }
        if options.no_render {
            arguments.push("--no-render".to_owned());
        }
        // The URL of a provider is needed only where it is not the default.
        let names = options.model.as_deref().map(models::variables);
        let variables = names.into_iter().flat_map(|(key, base_url)| {
            std::iter::once(key).chain(is_set(base_url).then_some(base_url)).map(str::to_owned)
        });
        let variables = variables.collect();
        Ok(Self { program: absolute(program)?, arguments, variables })
    }

    /// Returns the command line as a shell takes it.
    pub(super) fn line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

impl McpHost {
    /// Returns the part of the configuration that starts the server.
    pub(super) fn snippet(&self, launch: &Launch) -> String {
        let line: Vec<&String> =
            std::iter::once(&launch.program).chain(&launch.arguments).collect();
        let reference = |name: &String| {
            let value = Value::from(self.variable.replace("NAME", name));
            (name.clone(), value)
        };
        let env: Map<String, Value> = launch.variables.iter().map(reference).collect();
        let values = [
            ("{command}", json!(launch.program)),
            ("{args}", json!(launch.arguments)),
            ("{line}", json!(line)),
            ("{env}", Value::Object(env)),
            ("{names}", json!(launch.variables)),
        ];
        let mut snippet = String::new();
        let mut rest = self.snippet.as_str();
        // In one pass: a path may hold such a word itself.
        while let Some(at) = rest.find('{') {
            let (before, after) = rest.split_at(at);
            snippet += before;
            let value = values.iter().find(|(name, _)| after.starts_with(name));
            let length = value.map_or(1, |(name, _)| name.len());
            match value {
                Some((_, value)) => snippet += &spaced(value),
                None => snippet.push('{'),
            }
            rest = &after[length..];
        }
        snippet + rest
    }

    /// Returns the sentences around the snippet: where it belongs, and what is still to do.
    pub(super) fn words(&self, launch: &Launch) -> String {
        let Self { name, file, .. } = self;
        let mut words = format!("{name}: merge this into {file}");
        // These commands leave the variables out.
        if let Some(command) = self.command.as_ref().filter(|_| launch.variables.is_empty()) {
            let _ = write!(words, "\n  or run: {command}{}", launch.line());
        }
        for name in launch.variables.iter().filter(|_| self.variable == "<NAME>") {
            let _ = write!(
                words,
                "\n  replace `<{name}>` by its value: this host does not read it from the environment"
            );
        }
        words
    }
}

/// Writes a list or an object on one line, with spaces as people write them.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(Value::to_string).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) if !members.is_empty() => {
            let member = |(name, value): (&String, &Value)| format!("{}: {value}", json!(name));
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Quotes a word for a shell, if it needs that.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=+,@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use clap::Parser as _;

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn launch(flags: &[&str], program: &str) -> Launch {
        let line = ["photic", "mcp", "--print", "generic"].iter().chain(flags);
        let Command::Mcp(options) = Arguments::parse_from(line).command else { unreachable!() };
        Launch::from(&options, Path::new(program), |_| false).unwrap()
    }

    /// The server as a host reads it: command, arguments, and variables.
    fn started(host: &McpHost, launch: &Launch) -> (String, Vec<String>, Vec<String>) {
        let snippet = host.snippet(launch);
        let read: Value = match host.format.as_str() {
            "json" => serde_json::from_str(&snippet).unwrap(),
            "toml" => toml::from_str(&snippet).unwrap(),
            // The values are JSON, one to a line.
            "yaml" => snippet
                .lines()
                .filter_map(|line| line.trim().split_once(": "))
                .map(|(name, value)| {
                    (name.to_owned(), serde_json::from_str(value).unwrap_or(Value::Null))
                })
                .collect::<Map<_, _>>()
                .into(),
            other => panic!("{}: format `{other}`", host.id),
        };
        let tables = ["mcpServers", "servers", "context_servers", "mcp", "mcp_servers"];
        let list = tables.iter().find_map(|name| read.get(name)).unwrap_or(&read);
        let server = list.get("photic").filter(|one| one.is_object()).unwrap_or(&read);
        let words = |value: &Value| {
            let list = value.as_array().unwrap_or_else(|| panic!("{}: {snippet}", host.id));
            list.iter().map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let mut line = match &server["command"] {
            Value::Array(_) => words(&server["command"]),
            Value::String(command) => vec![command.clone()],
            _ => vec![server["cmd"].as_str().unwrap().to_owned()],
        };
        line.extend(server.get("args").map(words).unwrap_or_default());
        let names = ["env_vars", "env_keys"].iter().find_map(|name| server.get(name)).map(words);
        let names = names.unwrap_or_else(|| {
            let env = server.get("env").or_else(|| server.get("environment")).unwrap();
            env.as_object().unwrap().keys().cloned().collect()
        });
        let program = line.remove(0);
        (program, line, names)
    }

    #[test]
    fn every_snippet_starts_the_server_with_absolute_paths_and_its_variables() {
        assert!(toml::from_str::<Table>(TABLE).unwrap().host.len() >= 12);
        let program = std::env::current_exe().unwrap();
        let program = program.to_str().unwrap();
        for root in ["crates", "a folder/with \"quotes\" {args} and \\", "é"] {
            let flags = ["--root", root, "--model", "claude-sonnet-5", "--store", "kept"];
            let launch = launch(&flags, program);
            for host in HOSTS.iter() {
                let (command, line, variables) = started(host, &launch);
                assert_eq!(command, program, "{}", host.id);
                let here = std::env::current_dir().unwrap();
                let at = |path: &str| here.join(path).to_str().unwrap().to_owned();
                let wanted = [
                    "mcp",
                    "--root",
                    &at(root),
                    "--store",
                    &at("kept"),
                    "--model",
                    "claude-sonnet-5",
                ];
                assert_eq!(line, wanted, "{}", host.id);
                assert_eq!(variables, ["ANTHROPIC_API_KEY"], "{}", host.id);
            }
        }
    }

    #[test]
    fn without_a_model_no_variable_is_needed_and_the_folder_is_the_current_one() {
        let launch = launch(&[], "/bin/photic");
        for host in HOSTS.iter() {
            let (_, line, variables) = started(host, &launch);
            let here = std::env::current_dir().unwrap();
            assert_eq!(line, ["mcp", "--root", here.to_str().unwrap()], "{}", host.id);
            assert!(variables.is_empty(), "{}", host.id);
        }
    }

    #[test]
    fn every_host_says_when_and_how_it_was_checked() {
        for host in HOSTS.iter() {
            assert!(host.checked.contains("2026-") || host.id == "generic", "{}", host.id);
            assert!(host.variable.contains("NAME"), "{}", host.id);
            assert!(host.words(&launch(&[], "/bin/photic")).contains(&host.file), "{}", host.id);
        }
        assert!(find("nonsense").unwrap_err().to_string().contains("claude-code"));
    }

    /// The documentation shows what `--print` prints.
    #[test]
    fn the_documentation_has_every_snippet() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md");
        let page = std::fs::read_to_string(path).unwrap();
        let (before, rest) = page.split_once("<!-- hosts -->\n").unwrap();
        let (written, after) = rest.split_once("<!-- /hosts -->").unwrap();
        let launch = Launch {
            program: "/usr/local/bin/photic".to_owned(),
            arguments: ["mcp", "--root", "/home/me/project", "--model", "gpt-5.4"]
                .map(str::to_owned)
                .to_vec(),
            variables: vec!["OPENAI_API_KEY".to_owned()],
        };
        let plain = Launch {
            program: launch.program.clone(),
            arguments: launch.arguments[..3].to_vec(),
            variables: Vec::new(),
        };
        let section = |host: &McpHost| {
            let McpHost { id, name, file, format, checked, .. } = host;
            let snippet = host.snippet(&launch);
            let command = host
                .command
                .as_ref()
                .map(|command| format!("Or, without `inspect`: `{command}{}`\n\n", plain.line()));
            let command = command.unwrap_or_default();
            format!(
                "### {name}\n\n`photic mcp --print {id}`, for {file}:\n\n```{format}\n{}\n```\n\n\
                 {command}Checked: {checked}.\n\n",
                snippet.trim()
            )
        };
        let wanted: String =
            std::iter::once("\n".to_owned()).chain(HOSTS.iter().map(section)).collect();
        if std::env::var_os("PHOTIC_BLESS").is_some() {
            let page = format!("{before}<!-- hosts -->\n{wanted}<!-- /hosts -->{after}");
            return std::fs::write(PathBuf::from(path), page).unwrap();
        }
        assert_eq!(written, wanted, "PHOTIC_BLESS=1 rewrites docs/mcp.md");
    }

    #[test]
    fn words_of_a_shell_are_quoted_where_they_need_it() {
        assert_eq!(quoted("/a/b.png"), "/a/b.png");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
