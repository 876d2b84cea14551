//! The environment of the command, before anything is set for it.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Values that mean that a switch is off.
const OFF: [&str; 4] = ["0", "false", "no", "off"];

/// The variables with a value.
#[derive(Debug, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The environment of this process.
    pub(crate) fn current() -> Self {
        let pairs = std::env::vars_os();
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        pairs.filter_map(text).collect()
    }

    /// The value of a variable, without spaces around it; `None` if nothing is left.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// Returns `true` if a switch is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        let value = self.0.get(name);
        value.is_some_and(|value| !OFF.contains(&value.to_ascii_lowercase().as_str()))
    }

    /// The value of a variable, if it can be part of a host's name.
    pub(crate) fn word(&self, name: &str) -> Option<String> {
        let is_word =
            |value: &String| value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        self.get(name).filter(is_word)
    }

    /// The names of all variables.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The home folder of the user.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.get("HOME").or_else(|| self.get("USERPROFILE")).map(PathBuf::from)
    }

    /// The folder that a variable names, or a folder below the home of the user, as an absolute path.
    pub(crate) fn folder(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let named = self.get(variable).map(PathBuf::from);
        let folder = named.or_else(|| Some(self.home()?.join(below_home)))?;
        std::path::absolute(folder).ok()
    }
}

impl<N: Into<String>, V: AsRef<str>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let trimmed = pairs.into_iter().filter_map(|(name, value)| {
            let value = value.as_ref().trim();
            (!value.is_empty()).then(|| (name.into(), value.to_owned()))
        });
        Self(trimmed.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_absolute() {
        let environment: Environment =
            [("AGENT_DIR", "agent"), ("HOME", "home")].into_iter().collect();
        let here = std::env::current_dir().unwrap();
        assert_eq!(environment.folder("AGENT_DIR", ".agent"), Some(here.join("agent")));
        assert_eq!(environment.folder("OTHER", ".agent"), Some(here.join("home/.agent")));
    }
}
