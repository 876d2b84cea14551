//! `photic ui`: shows recorded sessions in a browser until it is stopped.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use anyhow::Context as _;
use photic_inspector::{Inspector, ServedBy, UiServer};
use photic_store::LocalStore;

use crate::arguments::UiOptions;
use crate::serve::shutdown_signal;
use crate::style::Hint;

/// Runs the command.
pub(crate) fn run(options: &UiOptions) -> anyhow::Result<ExitCode> {
    let store = open(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(serve(options, store))?;
    // Open pages need not be waited for.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

/// Opens the store. A folder that is named must hold one.
fn open(options: &UiOptions) -> anyhow::Result<LocalStore> {
    let directory: PathBuf = match &options.directory {
        Some(named) => {
            if !named.join("record.db").is_file() {
                let shown = named.display();
                let hint = Hint("record some with `photic run --record --store DIR -- CMD`");
                return Err(anyhow::anyhow!("`{shown}` holds no sessions")).context(hint);
            }
            named.clone()
        }
        None => LocalStore::usual_directory()
            .context(Hint("pass a directory"))
            .context("this system has no state directory for sessions")?,
    };
    let shown = directory.display();
    LocalStore::open(&directory).with_context(|| format!("cannot open the sessions in `{shown}`"))
}

/// Serves until the process is asked to end.
async fn serve(options: &UiOptions, store: LocalStore) -> anyhow::Result<()> {
    let stop = shutdown_signal()?;
    let inspector = Inspector::new(Arc::new(store), ServedBy::Command);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let server = UiServer::bind(address, inspector).await?;
    let url = server.url();
    let mut out = anstream::stdout();
    writeln!(out, "{url}")?;
    out.flush()?;
    writeln!(anstream::stderr(), "photic: open this address in a browser; Ctrl+C stops it")?;
    // Removed when the server ends: a browser may load it late.
    let _page = if options.open { OpenedPage::show(&url) } else { None };
    server.serve(stop).await;
    Ok(())
}

/// A file that leads a browser to an address, removed at the end.
///
/// The address has a token, and every user of the machine sees the arguments of a program. So the
/// browser is given a file that only this user can read.
#[derive(Debug)]
struct OpenedPage(PathBuf);

impl OpenedPage {
    /// Asks the system to open an address. Without a browser the printed address is enough.
    fn show(url: &str) -> Option<Self> {
        let page = Self::write(url);
        let opened = page.and_then(|page| open_in_browser(&page.0).map(|()| page));
        if opened.is_err() {
            let _ = writeln!(anstream::stderr(), "photic: no browser was found");
        }
        opened.ok()
    }

    fn write(url: &str) -> std::io::Result<Self> {
        let name = format!("photic-ui-{:016x}.html", getrandom::u64().unwrap_or_default());
        let path = std::env::temp_dir().join(name);
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let page = Self(path);
        writeln!(
            file,
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" \
             content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url={url}\">\
             <title>photic</title><a href=\"{url}\">Open the inspector</a>"
        )?;
        Ok(page)
    }
}

impl Drop for OpenedPage {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn open_in_browser(page: &Path) -> std::io::Result<()> {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(first).arg(page);
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.spawn().map(drop)
}
