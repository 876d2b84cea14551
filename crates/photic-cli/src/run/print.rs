//! `photic run --print`: how a command would be run, and variables for a gateway that runs already.

use std::fmt::Write as _;
use std::process::ExitCode;

use super::Plan;
use super::base_urls::{BaseUrls, PlainVariable};
use super::launch::Launch;
use crate::arguments::{PrintFormat, RunOptions};

/// The default port of `photic serve`.
const SERVE_PORT: u16 = 4141;
/// The host as containers see it.
const DOCKER_HOST: &str = "host.docker.internal";

/// Prints one of the formats.
pub(super) fn print(
    format: PrintFormat,
    options: &RunOptions,
    plan: Plan,
) -> anyhow::Result<ExitCode> {
    if format == PrintFormat::Docker && !options.quiet {
        anstream::eprintln!("{}", docker_note(options, &plan.bases));
    }
    let text = match format {
        PrintFormat::Text => launch(options, plan),
        PrintFormat::Env => shell(options, &plan.bases),
        PrintFormat::Docker => docker(options, &plan.bases),
    };
    crate::output::print(text.as_bytes())
}

/// The variables, arguments and files of the command, line by line.
fn launch(options: &RunOptions, plan: Plan) -> String {
    let Plan { agent, mut launch, config, .. } = plan;
    let port = match options.port {
        0 => "PORT".to_owned(),
        port => port.to_string(),
    };
    launch.fill(&format!("http://127.0.0.1:{port}/TOKEN"), "SCRATCH");
    let mut lines = Lines::default();
    if let Some(agent) = agent {
        lines.add("agent", &agent.agent.name);
    }
    if !launch.command.is_empty() {
        lines.add("command", &command(&launch));
    }
    for (name, value) in &launch.environment {
        lines.add("set", &format!("{name}={value}"));
    }
    for name in &launch.removed {
        lines.add("unset", name);
    }
    for file in &launch.files {
        let of =
            file.copy_of.as_ref().map(|path| format!(", a changed copy of {}", path.display()));
        lines.add("file", &format!("SCRATCH/{}{}", file.path.display(), of.unwrap_or_default()));
    }
    for upstream in &config.upstream {
        let name = upstream.prefix.as_deref().or_else(|| upstream.wire.map(photic::Wire::name));
        lines.add("upstream", &format!("{} {}", name.unwrap_or("all"), upstream.url));
    }
    for note in &launch.notes {
        lines.add("note", note);
    }
    lines.0
}

/// Lines with a heading that is written once.
#[derive(Default)]
struct Lines(String, &'static str);

impl Lines {
    fn add(&mut self, heading: &'static str, text: &str) {
        let shown = if self.1 == heading { "" } else { heading };
        self.1 = heading;
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{shown:<9} {text}");
    }
}

/// The command, as one would type it.
fn command(launch: &Launch) -> String {
    let words: Vec<String> =
        launch.command.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    words.join(" ")
}

/// Variables for a shell, and what they do not reach.
fn shell(options: &RunOptions, bases: &BaseUrls) -> String {
    let base = here(options);
    let mut text = format!("# For a gateway at {base}: `{}`\n", serve(options, "127.0.0.1"));
    for variable in bases.without_prefixes(&base, &base) {
        let line = format!("export {}={}", variable.name, variable.url);
        let _ = match left_out(&variable, &serve(options, "127.0.0.1")) {
            None => writeln!(text, "{line}"),
            Some(why) => writeln!(text, "# {line}  # {why}"),
        };
    }
    for name in bases.own_names() {
        let _ = writeln!(text, "# {name}: only `photic run` has an address of its own for it");
    }
    text
}

/// The reason why a variable is not set. A gateway without the user's URL would send the user's key
/// to the default provider.
fn left_out(variable: &PlainVariable<'_>, serve: &str) -> Option<String> {
    let Some((url, family)) = variable.given else { return variable.caution.map(str::to_owned) };
    let upstreams: Vec<String> = family
        .wires()
        .map(|wire| format!("--upstream {}", quoted(&format!("{}={url}", wire.name()))))
        .collect();
    let serve = format!("{serve} {}", upstreams.join(" "));
    let also = variable.caution.map(|caution| format!("; {caution}")).unwrap_or_default();
    Some(format!("your URL is {url}: `{serve}`{also}"))
}

/// Options of `docker run`, one a line, as a shell splits them.
fn docker(options: &RunOptions, bases: &BaseUrls) -> String {
    let base = format!("http://{DOCKER_HOST}:{}", port(options));
    let mut text = format!("--add-host={DOCKER_HOST}:host-gateway\n");
    for variable in bases.without_prefixes(&base, &here(options)) {
        if left_out(&variable, "").is_none() {
            let _ = writeln!(text, "-e {}={}", variable.name, variable.url);
        }
    }
    text
}

/// The start of the gateway for a container, and the variables that are left out. Not part of the
/// output: a shell would take it for options.
fn docker_note(options: &RunOptions, bases: &BaseUrls) -> String {
    let serve = serve(options, "172.17.0.1");
    let mut text = format!(
        "photic: the gateway must listen where the container can reach it: `{serve}`\n\
         (on Linux, the address of the bridge `docker0`); every container can use it then, with its \
         own keys.\nWith `--network host`, use `photic run --print env`.",
    );
    let base = format!("http://{DOCKER_HOST}:{}", port(options));
    for variable in bases.without_prefixes(&base, &here(options)) {
        if let Some(why) = left_out(&variable, &serve) {
            let _ = write!(text, "\nLeft out: -e {}={} ({why})", variable.name, variable.url);
        }
    }
    text
}

/// The address of the gateway on this machine.
fn here(options: &RunOptions) -> String {
    format!("http://127.0.0.1:{}", port(options))
}

fn port(options: &RunOptions) -> u16 {
    if options.port == 0 { SERVE_PORT } else { options.port }
}

/// The command that starts the gateway.
fn serve(options: &RunOptions, host: &str) -> String {
    match (host, port(options)) {
        ("127.0.0.1", SERVE_PORT) => "photic serve".to_owned(),
        ("127.0.0.1", port) => format!("photic serve --listen 127.0.0.1:{port}"),
        // Others can reach it, and it starts only if that is said.
        (host, port) => format!("photic serve --open --listen {host}:{port}"),
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("--model=a/b"), "--model=a/b");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a=\"b\""), "'a=\"b\"'");
    }
}
