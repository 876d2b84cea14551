//! `photic mcp`: the tools for an agent, until its host leaves or the process is told to stop.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use photic_mcp::{HttpServer, Server, StartError, serve_stdio};
use photic_net::{Client, Timeouts};
use photic_store::Tenant;
use photic_tools::{Builder, LocalOriginals, Tools, VisionModels};

use crate::arguments::McpOptions;
use crate::inspect::models::{self, Asked};
use crate::render;
use crate::serve::told_to_stop;
use crate::view::profile;

pub(crate) fn run(options: &McpOptions) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let ended = runtime.block_on(serve(options));
    // Standard input may still be waited for on a thread that nobody can wake.
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

async fn serve(options: &McpOptions) -> anyhow::Result<()> {
    let stop = told_to_stop()?;
    let server = Server::new(tools(options)?, options.structured);
    let Some(address) = &options.http else {
        return Box::pin(serve_stdio(server, stop)).await.context("cannot serve on standard input");
    };
    let door = HttpServer::bind(address, server).await.map_err(|error| match error {
        StartError::NotLoopback(_) => anyhow::Error::new(error)
            .context("listen on loopback, `127.0.0.1:4142`, and put a proxy with keys before it"),
        other => other.into(),
    })?;
    // Not on standard output: nothing but protocol ever stands there.
    writeln!(anstream::stderr(), "photic: listening on {}", door.url())?;
    door.serve(stop).await;
    Ok(())
}

fn tools(options: &McpOptions) -> anyhow::Result<Tools> {
    let mut builder = Tools::builder().profile(profile(options.viewer.as_deref()));
    builder = options.root.iter().fold(builder, Builder::root);
    if let Some(renderer) = render::capability().filter(|_| !options.no_render) {
        builder = builder.renderer(renderer);
    }
    if let Some(model) = &options.model {
        builder = builder.vision_models(eyes(model));
    }
    if let Some(store) = &options.store {
        let kept = LocalOriginals::open(store, Tenant::local())
            .with_context(|| format!("cannot open the store `{}`", store.display()))?;
        builder = builder.originals(Arc::new(kept));
    }
    builder.build().context("cannot open the roots")
}

/// The model that `inspect` asks. Without a name there is none: a key in the environment is no
/// leave to send pictures to somebody.
fn eyes(model: &str) -> VisionModels {
    let asked = Asked { model: Some(model), ..Asked::default() };
    let models = models::from(&asked, |name| std::env::var(name).ok());
    let vision = Some(model.to_owned());
    VisionModels { vision, ..VisionModels::new(Client::new(Timeouts::default()), models) }
}
