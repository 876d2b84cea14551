//! LiteLLM's proxy: one worker, no database, one model on the upstream.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::proxy::Proxy;
use crate::{Outcome, bodies};

/// Time in which it must start.
const START_TIMEOUT: Duration = Duration::from_mins(3);

/// The process, and the directory of its settings.
pub(crate) struct LiteLlm {
    pub(crate) proxy: Proxy,
    folder: PathBuf,
}

impl LiteLlm {
    /// Starts the command.
    pub(crate) fn start(command: &Path, upstream: SocketAddr) -> Outcome<Self> {
        let folder = std::env::temp_dir().join(format!("photic-measure-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let config = folder.join("config.yaml");
        std::fs::write(
            &config,
            format!(
                "model_list:\n  - model_name: gpt-4o\n    litellm_params:\n      \
                 model: openai/gpt-4o\n      api_base: http://{upstream}/v1\n      api_key: k\n"
            ),
        )?;
        // A port that is free again when this listener is dropped.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = std::fs::File::create(folder.join("log"))?;
        let child = Command::new(command)
            .arg("--config")
            .arg(&config)
            .args(["--host", "127.0.0.1", "--num_workers", "1"])
            .args(["--port", &address.port().to_string(), "--telemetry", "False"])
            // Otherwise it downloads prices.
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env("LITELLM_LOG", "ERROR")
            .env("LITELLM_MASTER_KEY", bodies::key())
            .stdout(Stdio::from(log.try_clone()?))
            .stderr(Stdio::from(log))
            .spawn()?;
        let mut this = Self { proxy: Proxy::known(child, address), folder };
        let begun = Instant::now();
        while begun.elapsed() < START_TIMEOUT && this.proxy.is_alive() {
            if is_ready(address) {
                return Ok(this);
            }
            std::thread::sleep(Duration::from_millis(250));
        }
        let said = std::fs::read_to_string(this.folder.join("log")).unwrap_or_default();
        Err(format!("LiteLLM did not start: {said}").into())
    }
}

impl Drop for LiteLlm {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn is_ready(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /health/liveliness HTTP/1.1\r\nhost: l\r\n\r\n")?;
        let mut status = [0; 13];
        stream.read_exact(&mut status)?;
        Ok(&status == b"HTTP/1.1 200 ")
    };
    ask().unwrap_or(false)
}
