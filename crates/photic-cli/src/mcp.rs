//! `photic mcp`: serves the tools to an agent until its host disconnects or the process is stopped.

mod hosts;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use photic_mcp::{HttpServer, Server, StartError, serve_stdio};
use photic_net::{Client, Timeouts};
use photic_store::Tenant;
use photic_tools::{Builder, LocalOriginals, Tools, VisionModels};

use crate::arguments::McpOptions;
use crate::inspect::models::{self, ModelSelection};
use crate::model::TargetModel;
use crate::output::print;
use crate::render;
use crate::serve::shutdown_signal;

/// Runs the command.
pub(crate) fn run(options: &McpOptions) -> anyhow::Result<ExitCode> {
    if let Some(host) = &options.print {
        let host = hosts::find(host)?;
        let launch = hosts::Launch::of(options)?;
        writeln!(anstream::stderr(), "{}\n", host.words(&launch))?;
        return print(format!("{}\n", host.snippet(&launch).trim()).as_bytes());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let ended = runtime.block_on(serve(options));
    // A thread may still wait for standard input, and cannot be woken.
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// Serves on standard input, or over HTTP.
async fn serve(options: &McpOptions) -> anyhow::Result<()> {
    let stop = shutdown_signal()?;
    let tools = tools(options)?;
    if options.model.is_some()
        && let Err(refusal) = tools.asked()
    {
        let (says, hint) = (&refusal.says, &refusal.hint);
        writeln!(anstream::stderr(), "photic: `inspect` is not offered: {says}; {hint}")?;
    }
    let server = Server::new(tools, options.structured);
    let Some(address) = &options.http else {
        if std::io::stdin().is_terminal() {
            writeln!(anstream::stderr(), "{}", terminal_note(options)?)?;
        }
        return Box::pin(serve_stdio(server, stop)).await.context("cannot serve on standard input");
    };
    let http_server = HttpServer::bind(address, server).await.map_err(|error| match error {
        StartError::NotLoopback(_) => anyhow::Error::new(error).context(
            "listen on loopback, such as `127.0.0.1:4142`, behind a proxy that checks keys",
        ),
        other => other.into(),
    })?;
    // Standard output carries only the protocol.
    writeln!(anstream::stderr(), "photic: listening on {}", http_server.url())?;
    http_server.serve(stop).await;
    Ok(())
}

/// Returns the words for a person who starts the server in a terminal, where it seems to hang.
fn terminal_note(options: &McpOptions) -> anyhow::Result<String> {
    let launch = hosts::Launch::of(options)?;
    let host = hosts::find("generic")?;
    Ok(format!(
        "photic: this is an MCP server; it waits for messages of an agent's host on standard input.\n\
         There is nothing to type here: stop it with Ctrl+C, and add it to your host instead.\n\n\
         Claude Code:  claude mcp add photic -- {}\n\
         Most others:\n{}\n\
         `photic mcp --print HOST` prints the configuration of one host.",
        launch.line(),
        host.snippet(&launch).trim(),
    ))
}

/// The tools, with roots, renderer, models and store.
fn tools(options: &McpOptions) -> anyhow::Result<Tools> {
    let viewer = TargetModel::on_any_wire(options.viewer.as_deref(), None);
    viewer.warn();
    let mut builder = Tools::builder().profile(viewer.profile);
    builder = options.root.iter().fold(builder, Builder::root);
    if let Some(renderer) = render::capability().filter(|_| !options.no_render) {
        builder = builder.renderer(renderer);
    }
    if let Some(model) = &options.model {
        builder = builder.vision_models(vision_models(model));
    }
    if let Some(store) = &options.store {
        let kept = LocalOriginals::open(store, Tenant::local())
            .with_context(|| format!("cannot open the store `{}`", store.display()))?;
        builder = builder.originals(Arc::new(kept));
    }
    builder.build().context("cannot open the roots")
}

/// The model that `inspect` asks. It has to be named: a key in the environment is not permission to
/// send pictures to a provider.
fn vision_models(model: &str) -> VisionModels {
    let asked = ModelSelection { model: Some(model), ..ModelSelection::default() };
    let models = models::from(&asked, |name| std::env::var(name).ok());
    let vision = Some(model.to_owned());
    VisionModels { vision, ..VisionModels::new(Client::new(Timeouts::default()), models) }
}
