//! Finds and reads the settings file: one that the user named, or the user's own.
//!
//! A file in the current folder is never read by default: the author of that folder would decide
//! where the user's keys are sent.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use photic_gateway::{Config, learned};

/// Environment variable that names a settings file.
const VARIABLE: &str = "PHOTIC_CONFIG";
/// Name of the user's settings file.
const NAME: &str = "photic.toml";

/// The origin of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Named by an option.
    Flag(PathBuf),
    /// Named by the environment variable.
    Variable(PathBuf),
    /// The user's own file.
    User(PathBuf),
    /// No file; the defaults apply.
    Nothing,
}

/// Settings and their origin.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) source: Source,
}

/// Reads the named file, the one of `PHOTIC_CONFIG`, or the user's own.
pub(crate) fn load(named: Option<&Path>) -> anyhow::Result<Settings> {
    let source = Source::find(named, |name| std::env::var_os(name).map(PathBuf::from));
    let mut config = source.read()?;
    // A gateway in a library writes no files by default; the command has a default location.
    config.learned.path = config.learned.path.or_else(learned::usual_file);
    Ok(Settings { config, source })
}

/// The user's own settings file, whether it is there or not.
pub(crate) fn usual_file() -> Option<PathBuf> {
    own_file(&|name| std::env::var_os(name).map(PathBuf::from))
}

/// The path of the user's own settings file.
fn own_file(variable: &impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // A relative path would be looked up in the current folder.
    let folder = |name: &str| variable(name).filter(|path| path.is_absolute());
    let settings = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    settings.map(|folder| folder.join("photic").join(NAME))
}

/// The file in which a gateway started here saves what it learns.
pub(crate) fn learned_file() -> anyhow::Result<Option<PathBuf>> {
    let path = load(None)?.config.learned.path;
    Ok(path.filter(|path| !path.as_os_str().is_empty()))
}

impl Source {
    fn find(named: Option<&Path>, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        if let Some(path) = named {
            return Self::Flag(path.to_owned());
        }
        if let Some(path) = variable(VARIABLE).filter(|path| !path.as_os_str().is_empty()) {
            return Self::Variable(path);
        }
        let own = own_file(&variable).filter(|path| path.is_file());
        own.map_or(Self::Nothing, Self::User)
    }

    /// Reads and parses the file.
    pub(crate) fn read(&self) -> anyhow::Result<Config> {
        let Some(path) = self.path() else { return Ok(Config::default()) };
        if matches!(self, Self::User(_)) {
            refuse_if_others_may_write(path)?;
        }
        let mut text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read `{}`", path.display()));
        if matches!(self, Self::Variable(_)) {
            text = text.with_context(|| format!("`{VARIABLE}` names a file that cannot be used"));
        }
        Config::parse(&text?).with_context(|| format!("cannot use `{}`", path.display()))
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Flag(path) | Self::Variable(path) | Self::User(path) => Some(path),
            Self::Nothing => None,
        }
    }

    /// A note about a settings file in the current folder that is ignored.
    pub(crate) fn not_read(&self) -> Option<String> {
        let here = Path::new(NAME);
        let same = |path: &Path| path.canonicalize().ok() == here.canonicalize().ok();
        let is_ignored = here.is_file() && !self.path().is_some_and(same);
        is_ignored.then(|| {
            format!("`{NAME}` in this folder is ignored; pass `--config {NAME}` to use it")
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            Some(path) => write!(f, "settings from `{}`", path.display()),
            None => f.write_str("no settings file; using the defaults"),
        }
    }
}

/// Fails if another user could have written the user's settings file, which is read without being
/// named.
#[cfg(unix)]
fn refuse_if_others_may_write(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let shown = path.display();
    let facts = std::fs::metadata(path).with_context(|| format!("cannot read `{shown}`"))?;
    let user = rustix::process::geteuid().as_raw();
    if facts.uid() != user && facts.uid() != 0 {
        bail!("`{shown}` belongs to another user; pass it with `--config` to use it");
    }
    if facts.mode() & 0o022 != 0 {
        bail!(
            "`{shown}` is writable by other users, but decides where your keys are sent; run `chmod go-w {shown}`"
        );
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn refuse_if_others_may_write(_: &Path) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_comes_before_what_is_there() {
        let home = std::env::temp_dir().join(format!("photic-settings-{}", std::process::id()));
        let own = home.join(".config/photic/photic.toml");
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        std::fs::write(&own, "").unwrap();
        let find = |named: Option<&str>, set: &[(&str, &Path)]| {
            let get = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).into());
            Source::find(named.map(Path::new), get)
        };
        let (config, home_set) = (("PHOTIC_CONFIG", Path::new("/v")), ("HOME", home.as_path()));
        assert_eq!(find(Some("f"), &[config, home_set]), Source::Flag("f".into()));
        assert_eq!(find(None, &[config, home_set]), Source::Variable("/v".into()));
        assert_eq!(find(None, &[home_set]), Source::User(own));
        let elsewhere = ("XDG_CONFIG_HOME", Path::new("/nowhere"));
        assert_eq!(find(None, &[elsewhere, home_set]), Source::Nothing);
        let here = ("XDG_CONFIG_HOME", Path::new("."));
        assert_eq!(find(None, &[here]), Source::Nothing, "not the current folder");
        std::fs::remove_dir_all(home).unwrap();
    }
}
