//! `photic config`: the settings that hold, and where each of them comes from.

use std::path::PathBuf;
use std::process::ExitCode;

use photic_gateway::Config;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::arguments::ConfigOptions;
use crate::keys::{is_set, set_keys};
use crate::report::print_report;
use crate::serve;
use crate::settings::{self, Settings, Source};
use crate::style::{CYAN, DIM, GREEN};

/// Environment variables that change a setting.
const VARIABLES: [(&str, &[&str]); 4] = [
    ("telemetry.otlp", &["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"]),
    ("telemetry.service", &["OTEL_SERVICE_NAME"]),
    ("telemetry.resource", &["OTEL_RESOURCE_ATTRIBUTES"]),
    ("telemetry.headers", &["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"]),
];

/// The output of `photic config --json`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ConfigReport {
    /// Settings file that is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    /// Origin of the file's name: `flag`, `variable`, `default` (the user's own file) or `none`.
    file_from: String,
    /// The settings, in the order of their names.
    settings: Vec<SettingReport>,
    /// Names of environment variables with keys that are set. Their values are never shown.
    keys: Vec<String>,
}

/// One setting.
#[derive(JsonSchema, Serialize)]
struct SettingReport {
    /// Name, with the tables around it.
    name: String,
    /// Value; left out if it is not set. Passwords and queries of URLs are left out, too.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    value: Value,
    /// Origin of the value: `flag`, `variable`, `file` or `default`.
    from: String,
    /// Flag or variable that sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    named_by: Option<String>,
}

/// Runs the command.
pub(crate) fn run(options: &ConfigOptions) -> anyhow::Result<ExitCode> {
    let (Settings { config, source }, in_file) = serve::settings_with_file(&options.serve)?;
    let report = ConfigReport {
        file: source.path().map(PathBuf::from),
        file_from: named_by(&source).to_owned(),
        settings: settings(&config, &in_file, options),
        keys: set_keys().into_iter().map(str::to_owned).collect(),
    };
    if options.json {
        print_report(&report)?;
    } else {
        as_text(&report, &source)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The origin of the settings file's name.
const fn named_by(source: &Source) -> &'static str {
    match source {
        Source::Flag(_) => "flag",
        Source::Variable(_) => "variable",
        Source::User(_) => "default",
        Source::Nothing => "none",
    }
}

/// All settings, flat, with their origin.
fn settings(config: &Config, in_file: &toml::Table, options: &ConfigOptions) -> Vec<SettingReport> {
    let value = serde_json::to_value(config).unwrap_or_default();
    let mut rows = Vec::new();
    flatten("", &value, &mut rows);
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    let report = |(name, value): (String, Value)| {
        let flag = flag(&name, options);
        let variable = variable(&name);
        let (from, named_by) = match (flag, variable) {
            (Some(flag), _) => ("flag", Some(flag.to_owned())),
            (None, Some(variable)) => ("variable", Some(variable.to_owned())),
            (None, None) if is_in(in_file, &name) => ("file", None),
            (None, None) => ("default", None),
        };
        SettingReport { value: shown(&name, value), name, from: from.to_owned(), named_by }
    };
    rows.into_iter().map(report).collect()
}

/// Lists the values of nested tables by their full names.
fn flatten(within: &str, value: &Value, rows: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                let name = if within.is_empty() { key.clone() } else { format!("{within}.{key}") };
                flatten(&name, value, rows);
            }
        }
        other => rows.push((within.to_owned(), other.clone())),
    }
}

/// The flag that sets a setting, if it was given.
fn flag(name: &str, options: &ConfigOptions) -> Option<&'static str> {
    let serve = &options.serve;
    match name {
        "listen" => serve.listen.as_ref().map(|_| "--listen"),
        "open" => serve.open.then_some("--open"),
        "log" => serve.log.map(|_| "--log"),
        "upstream" => (!serve.upstream.is_empty()).then_some("--upstream"),
        "record.directory" => serve.record.is_wanted().then_some("--record"),
        _ => None,
    }
}

/// The environment variable that sets a setting, if it is set.
fn variable(name: &str) -> Option<&'static str> {
    let (_, variables) = VARIABLES.iter().find(|(setting, _)| *setting == name)?;
    variables.iter().copied().find(|variable| is_set(variable))
}

/// Returns `true` if a settings file sets this setting.
fn is_in(file: &toml::Table, name: &str) -> bool {
    let mut table = file;
    let mut keys = name.split('.').peekable();
    while let Some(key) = keys.next() {
        match table.get(key) {
            Some(toml::Value::Table(inner)) if keys.peek().is_some() => table = inner,
            Some(_) => return keys.peek().is_none(),
            None => return false,
        }
    }
    false
}

/// A value without secrets: URLs lose user names, passwords and queries.
fn shown(name: &str, value: Value) -> Value {
    match value {
        Value::String(text)
            if text.contains("://") || name == "url" || name == "telemetry.otlp" =>
        {
            Value::String(redacted(&text))
        }
        // A connection string may hold a password in another form, too.
        Value::String(_) if matches!(name, "fleet.postgres" | "inspect.token") => {
            "set, not shown".into()
        }
        Value::Array(values) => values.into_iter().map(|value| shown(name, value)).collect(),
        Value::Object(table) => table
            .into_iter()
            .map(|(key, value)| {
                let value = shown(&key, value);
                (key, value)
            })
            .collect(),
        other => other,
    }
}

/// A URL without user name, password, query and fragment.
fn redacted(address: &str) -> String {
    // Without a scheme it is wrong, but no less secret.
    let (scheme, rest) = match address.find("://") {
        Some(at) => address.split_at(at + 3),
        None => ("", address),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    // A password may hold a slash.
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    format!("{scheme}{rest}")
}

/// Prints the settings for people.
fn as_text(report: &ConfigReport, source: &Source) -> anyhow::Result<()> {
    use std::io::Write as _;
    let mut out = anstream::stdout().lock();
    let from = match source {
        Source::Flag(_) => " (named by `--config`)",
        Source::Variable(_) => " (named by `PHOTIC_CONFIG`)",
        Source::User(_) => " (your own file)",
        Source::Nothing => "",
    };
    writeln!(out, "{GREEN}{source}{GREEN:#}{from}")?;
    if let (Source::Nothing, Some(own)) = (source, settings::usual_file()) {
        writeln!(out, "{DIM}your own file would be `{}`{DIM:#}", own.display())?;
    }
    if let Some(word) = source.not_read() {
        writeln!(out, "{DIM}{word}{DIM:#}")?;
    }
    writeln!(out)?;
    let wide = report.settings.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in &report.settings {
        let origin = match (&row.named_by, row.from.as_str()) {
            (Some(name), _) => name.as_str(),
            (None, from) => from,
        };
        let value = if row.value.is_null() { "unset".to_owned() } else { row.value.to_string() };
        let style = if row.from == "default" { DIM } else { CYAN };
        writeln!(out, "{:<wide$}  {value}  {style}{origin}{style:#}", row.name)?;
    }
    let keys = if report.keys.is_empty() { "none".to_owned() } else { report.keys.join(", ") };
    writeln!(out, "\nkeys in the environment: {keys}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_secrets() {
        for (url, safe) in [
            ("http://me:secret@h:1/v1?key=secret#secret", "http://h:1/v1"),
            ("postgres://u:se/cret@h/db", "postgres://h/db"),
            ("me:secret@h:1/v1", "h:1/v1"),
            ("http://127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1"),
        ] {
            assert_eq!(redacted(url), safe);
        }
    }

    #[test]
    fn settings_of_a_file_are_found_by_their_full_name() {
        let file: toml::Table = toml::from_str("log = 'json'\n[limits]\nbody_mib = 3").unwrap();
        assert!(is_in(&file, "log") && is_in(&file, "limits.body_mib"));
        assert!(!is_in(&file, "listen") && !is_in(&file, "limits.memory_mib"));
    }
}
