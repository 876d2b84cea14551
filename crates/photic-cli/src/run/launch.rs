//! The launch of the command: its environment, arguments and scratch files.
//!
//! Until the gateway is bound, its address is written as [`GATEWAY`], and the scratch folder as
//! [`SCRATCH`].

use std::ffi::{OsStr, OsString};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::destination::{Destination, GATEWAY};
use super::scratch::{Overlay, Scratch};

/// Placeholder for the scratch folder.
pub(crate) const SCRATCH: &str = "/scratch.photic.invalid";

/// Environment variables that would send loopback requests through a proxy.
const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
/// Environment variables with exceptions from the proxy.
const NO_PROXIES: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// Everything that the command is started with.
#[derive(Debug, Default)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub(crate) command: Vec<OsString>,
    /// Arguments that were added, for display.
    pub(crate) added: Vec<String>,
    /// Variables that are set.
    pub(crate) environment: Vec<(String, String)>,
    /// Variables that are removed.
    pub(crate) removed: Vec<String>,
    /// Files of the scratch folder.
    pub(crate) files: Vec<ScratchFile>,
    /// Folders that look like the user's, except for some files.
    pub(crate) overlays: Vec<Overlay>,
    /// Upstreams that only this command needs.
    pub(crate) destinations: Vec<Destination>,
    /// Sentences about what could not be done for it.
    pub(crate) notes: Vec<String>,
}

/// A file of the scratch folder.
#[derive(Clone, Debug)]
pub(crate) struct ScratchFile {
    /// The path within the folder.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// The user's file that it is a copy of.
    pub(crate) copy_of: Option<PathBuf>,
}

impl Launch {
    /// Starts the command as it is.
    pub(crate) fn new(command: &[OsString]) -> Self {
        Self { command: command.to_vec(), ..Self::default() }
    }

    /// Sets a variable.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.environment.retain(|(other, _)| other != name);
        self.environment.push((name.to_owned(), value));
    }

    /// Leaves a variable as the user has it.
    pub(crate) fn leave(&mut self, name: &str) {
        self.environment.retain(|(other, _)| other != name);
    }

    /// Removes variables that are set for the command otherwise.
    pub(crate) fn remove(&mut self, names: &[String]) {
        self.removed.extend(names.iter().cloned());
    }

    /// Inserts arguments before the one at this place of the command.
    pub(crate) fn insert(&mut self, at: usize, arguments: &[String]) {
        let at = at.min(self.command.len());
        self.command.splice(at..at, arguments.iter().map(OsString::from));
        self.added.extend_from_slice(arguments);
    }

    /// Adds an upstream, and returns the base URL that leads to it.
    pub(crate) fn lead(&mut self, prefix: &str, url: &str) -> anyhow::Result<String> {
        let destination = Destination::new(prefix, url);
        destination.upstream().check()?;
        let link = destination.link();
        self.destinations.push(destination);
        Ok(link)
    }

    /// Adds a scratch file, and returns its path.
    pub(crate) fn write(&mut self, path: &str, text: String, copy_of: Option<PathBuf>) -> String {
        self.files.push(ScratchFile { path: PathBuf::from(path), text, copy_of });
        format!("{SCRATCH}/{path}")
    }

    /// Tells the user something before the command starts.
    pub(crate) fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Makes requests to the gateway go past any proxy. Each spelling of the exceptions keeps its
    /// own, or has those of the other, because readers prefer one of the two.
    pub(crate) fn pass_proxies(&mut self, get: impl Fn(&str) -> Option<String>) {
        if PROXIES.iter().any(|name| get(name).is_some()) {
            for name in NO_PROXIES {
                let before = get(name).or_else(|| NO_PROXIES.iter().find_map(|other| get(other)));
                self.set(name, no_proxy(&before.unwrap_or_default()));
            }
        }
    }

    /// Writes the scratch files, and replaces the words that stood for the gateway and the folder.
    /// The folder is removed when the returned value is dropped.
    ///
    /// # Errors
    ///
    /// Fails if the scratch folder cannot be written.
    pub(crate) fn bind(&mut self, gateway: SocketAddr, token: &str) -> io::Result<Option<Scratch>> {
        let address = format!("http://{gateway}/{token}");
        let needed = !self.files.is_empty() || !self.overlays.is_empty();
        let mut scratch = needed.then(Scratch::new).transpose()?;
        let folder = scratch.as_ref().map(|one| one.path().display().to_string());
        self.fill(&address, &folder.unwrap_or_default());
        if let Some(scratch) = &mut scratch {
            for overlay in &self.overlays {
                scratch.overlay(overlay)?;
            }
            for file in &self.files {
                scratch.write(&file.path, &file.text)?;
            }
        }
        Ok(scratch)
    }

    /// Replaces the words that stand for the gateway and the folder.
    pub(crate) fn fill(&mut self, address: &str, folder: &str) {
        let filled = |text: &str| {
            let bare = |url: &str| url.split_once("://").map(|(_, rest)| rest.to_owned());
            let text = match (bare(GATEWAY), bare(address)) {
                (Some(from), Some(to)) => text.replace(&from, &to),
                _ => text.to_owned(),
            };
            text.replace(SCRATCH, folder)
        };
        for (_, value) in &mut self.environment {
            *value = filled(value);
        }
        for argument in &mut self.added {
            *argument = filled(argument);
        }
        for argument in &mut self.command {
            if let Some(text) = argument.to_str() {
                *argument = filled(text).into();
            }
        }
        for file in &mut self.files {
            file.text = filled(&file.text);
        }
    }

    /// The program.
    pub(crate) fn program(&self) -> &OsStr {
        self.command.first().map_or(OsStr::new(""), OsString::as_os_str)
    }
}

/// Adds loopback to a list of exceptions from the proxy.
fn no_proxy(before: &str) -> String {
    match before.trim() {
        "" => "127.0.0.1".to_owned(),
        "*" => "*".to_owned(),
        list => format!("{list},127.0.0.1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_needs_no_proxy() {
        assert_eq!(no_proxy(""), "127.0.0.1");
        assert_eq!(no_proxy("a.example"), "a.example,127.0.0.1");
        assert_eq!(no_proxy("*"), "*");
        let mut launch = Launch::default();
        launch.pass_proxies(|_| None);
        assert!(launch.environment.is_empty());
        launch.pass_proxies(|name| (name == "http_proxy").then(|| "http://p".to_owned()));
        assert_eq!(launch.environment.len(), 2);
    }

    #[test]
    fn exceptions_from_the_proxy_hold_in_both_spellings() {
        for own in NO_PROXIES {
            let mut launch = Launch::default();
            let set = [("HTTP_PROXY", "http://p"), (own, "internal.corp")];
            launch.pass_proxies(|name| {
                let (_, value) = set.into_iter().find(|(one, _)| *one == name)?;
                Some(value.to_owned())
            });
            let values = launch.environment.iter().map(|(_, value)| value.as_str());
            assert_eq!(values.collect::<Vec<_>>(), ["internal.corp,127.0.0.1"; 2], "{own}");
        }
    }

    #[test]
    fn words_for_the_gateway_are_replaced_everywhere() {
        let mut launch = Launch::new(&["agent".into(), "last".into()]);
        launch.set("URL", format!("{GATEWAY}/openai/v1"));
        launch.set("SOCKET", "ws://gateway.photic.invalid/x/v1".to_owned());
        let path = launch.write("a/b.json", format!("{{\"u\":\"{GATEWAY}/p\"}}"), None);
        launch.insert(1, &["-f".to_owned(), path]);
        launch.fill("http://127.0.0.1:1/token", "/tmp/x");
        let value =
            |name| launch.environment.iter().find(|(one, _)| one == name).unwrap().1.as_str();
        assert_eq!(value("URL"), "http://127.0.0.1:1/token/openai/v1");
        assert_eq!(value("SOCKET"), "ws://127.0.0.1:1/token/x/v1");
        assert_eq!(launch.command, ["agent", "-f", "/tmp/x/a/b.json", "last"]);
        assert_eq!(launch.added, ["-f", "/tmp/x/a/b.json"]);
        assert_eq!(launch.files[0].text, "{\"u\":\"http://127.0.0.1:1/token/p\"}");
    }

    #[test]
    fn what_is_left_is_not_set() {
        let mut launch = Launch::default();
        launch.set("A", "1".to_owned());
        launch.set("A", "2".to_owned());
        assert_eq!(launch.environment, [("A".to_owned(), "2".to_owned())]);
        launch.leave("A");
        assert!(launch.environment.is_empty());
    }
}
