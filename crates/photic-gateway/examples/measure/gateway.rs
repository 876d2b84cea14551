//! The gateway and the baselines, as processes.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use photic_gateway::{Config, Gateway};
use sha2::{Digest as _, Sha256};

use crate::proxy::Proxy;
use crate::{Outcome, bodies};

/// The configuration of a gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Setting {
    /// All requests go to the upstream in the client's wire.
    Plain,
    /// Models named `chat-*` and `messages-*` are served in that wire, for clients of every wire.
    Crossing,
    /// Like `Plain`, with a record in a new directory. Replies wait for it, so that every turn goes on
    /// with one that is written.
    Recorded,
    /// Like `Plain`, with keys, budgets, a usage log, and a second upstream for failover.
    Operated,
}

/// A proxy that is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// The example `pipe`.
    Pipe,
    /// The example `pipe`, which keeps the pieces of a request until all are there.
    Store,
    Gateway(Setting),
}

/// Starts a gateway in front of an upstream.
pub(crate) fn start(upstream: &str, setting: Setting) -> Outcome<Proxy> {
    Kind::Gateway(setting).start(upstream)
}

impl Kind {
    /// The proxies of a comparison.
    pub(crate) const ALL: [Self; 3] = [Self::Pipe, Self::Store, Self::Gateway(Setting::Plain)];

    /// Starts a proxy in front of an upstream.
    pub(crate) fn start(self, upstream: &str) -> Outcome<Proxy> {
        let command = self.command(upstream)?;
        let (program, arguments) = command.split_first().ok_or("no program")?;
        Proxy::start(Command::new(program).args(arguments))
    }

    /// Returns the program with its arguments.
    pub(crate) fn command(self, upstream: &str) -> Outcome<Vec<OsString>> {
        let this = std::env::current_exe()?;
        let pipe = || this.with_file_name("pipe").into();
        let upstream = upstream.into();
        Ok(match self {
            Self::Pipe => vec![pipe(), upstream],
            Self::Store => vec![pipe(), upstream, "store".into()],
            Self::Gateway(Setting::Plain) => vec![this.into(), "gateway".into(), upstream],
            Self::Gateway(Setting::Crossing) => vec![this.into(), "crossing".into(), upstream],
            Self::Gateway(Setting::Recorded) => vec![this.into(), "recorded".into(), upstream],
            Self::Gateway(Setting::Operated) => {
                let digest = hex(&Sha256::digest(bodies::key()));
                vec![this.into(), "operated".into(), upstream, digest.into()]
            }
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the settings of callers with limits that are never reached, and of two upstreams. Their
/// files lie in a new directory.
fn operated(upstream: &str, digest: &str, directory: &Path) -> Outcome<String> {
    std::fs::create_dir_all(directory)?;
    let caller = format!(
        "[[caller]]\nname = 'c'\ndigest = 'sha256:{digest}'\nmodels = ['gpt-*']\n\
         requests_per_minute = 1000000\nmib_per_minute = 1000000\n\
         tokens_per_day = 1000000000000\nusd_per_day = 1000000000.0\n"
    );
    std::fs::write(directory.join("callers.toml"), caller)?;
    let directory = directory.display();
    Ok(format!(
        "listen = '127.0.0.1:0'\n[policy]\nretention = 'all'\n[callers]\n\
         file = '{directory}/callers.toml'\nmeters = '{directory}/meters'\n\
         usage_log = '{directory}/usage.jsonl'\n\
         [[upstream]]\nname = 'a'\nkey = 'sk-a'\nurl = '{upstream}'\n\
         [[upstream]]\nname = 'b'\nkey = 'sk-b'\nurl = '{upstream}/b'\n\
         [[model]]\nname = 'gpt-*'\nupstreams = ['a', 'b']\n"
    ))
}

/// Serves until the process is interrupted. `digest` is that of the key of an operated gateway.
pub(crate) fn run(upstream: &str, setting: Setting, digest: &str) -> Outcome<()> {
    let address = format!("[[upstream]]\nurl = '{upstream}'\n");
    let mut settings = ["listen = '127.0.0.1:0'\n[policy]\nretention = 'all'\n", &address].concat();
    if matches!(setting, Setting::Crossing) {
        for more in [
            "wire = 'openai-chat'\nmodels = ['chat-*']\n",
            "wire = 'anthropic'\nmodels = ['messages-*']\n",
        ] {
            settings.push_str(&address);
            settings.push_str(more);
        }
    }
    let directory = std::env::temp_dir().join(format!("photic-measure-{}", std::process::id()));
    if matches!(setting, Setting::Recorded) {
        let directory = directory.display();
        write!(settings, "[record]\nacknowledge = true\ndirectory = '{directory}'\n")?;
    }
    if matches!(setting, Setting::Operated) {
        settings = operated(upstream, digest, &directory)?;
    }
    let config = Config::parse(&settings)?;
    photic_gateway::runtime()?.block_on(async {
        let gateway = Gateway::bind(config).await?;
        println!("{}", gateway.address().port());
        tokio::select! {
            () = gateway.serve(std::future::pending()) => Ok(()),
            interrupted = tokio::signal::ctrl_c() => {
                if matches!(setting, Setting::Recorded | Setting::Operated) {
                    std::fs::remove_dir_all(&directory)?;
                }
                Ok(interrupted?)
            }
        }
    })
}
