//! The gateway and the pipe, as processes.

use std::net::SocketAddr;
use std::process::Command;

use photic_gateway::{Config, Gateway};

use crate::Outcome;
use crate::proxy::Proxy;

/// The configuration of a gateway.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Setting {
    /// All requests go to the upstream in the client's wire.
    Plain,
    /// Models named `chat-*` and `messages-*` are served in that wire, for clients of every wire.
    Crossing,
}

/// Starts a gateway in front of an upstream.
pub(crate) fn start(upstream: SocketAddr, setting: Setting) -> Outcome<Proxy> {
    let name = match setting {
        Setting::Plain => "gateway",
        Setting::Crossing => "crossing",
    };
    Proxy::start(Command::new(std::env::current_exe()?).args([name, &upstream.to_string()]))
}

/// Starts the example `pipe`.
pub(crate) fn start_pipe(upstream: SocketAddr) -> Outcome<Proxy> {
    let pipe = std::env::current_exe()?.with_file_name("pipe");
    Proxy::start(Command::new(pipe).arg(upstream.to_string()))
}

/// Serves until the process is interrupted.
pub(crate) fn run(upstream: &str, setting: Setting) -> Outcome<()> {
    let address = format!("[[upstream]]\nurl = 'http://{upstream}'\n");
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
    let config = Config::parse(&settings)?;
    photic_gateway::runtime()?.block_on(async {
        let gateway = Gateway::bind(config).await?;
        println!("{}", gateway.address().port());
        tokio::select! {
            () = gateway.serve(std::future::pending()) => Ok(()),
            interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
        }
    })
}
