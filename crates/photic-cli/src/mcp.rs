//! `photic mcp`: the tools for an agent, until its host leaves or the process is told to stop.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use photic::Wire;
use photic_mcp::{HttpServer, Server, StartError, serve_stdio};
use photic_net::{Client, Timeouts};
use photic_tools::{Eyes, Key, Model, Tools};

use crate::arguments::McpOptions;
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
        return serve_stdio(server, stop).await.context("cannot serve on standard input");
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
    builder = options.root.iter().fold(builder, |builder, root| builder.root(root));
    if let Some(model) = &options.model {
        builder = builder.eyes(eyes(model));
    }
    builder.build().context("cannot open the roots")
}

/// The model that `inspect` asks, where the variables that every SDK reads say it is.
fn eyes(model: &str) -> Eyes {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (provider, wire, base, usual) = if model.starts_with("claude") {
        let base = variable("ANTHROPIC_BASE_URL").map(|base| {
            let base = base.trim_end_matches('/');
            format!("{}/v1", base.strip_suffix("/v1").unwrap_or(base))
        });
        ("anthropic", Wire::Anthropic, base, "https://api.anthropic.com/v1")
    } else {
        let base = variable("OPENAI_BASE_URL");
        ("openai", Wire::OpenAiChat, base, "https://api.openai.com/v1")
    };
    let key = variable(&format!("{}_API_KEY", provider.to_ascii_uppercase()));
    let key = match (key, &base) {
        (Some(key), _) => Key::Given(key),
        // A server of one's own often asks for none.
        (None, Some(_)) => Key::Open,
        (None, None) => Key::Missing,
    };
    let base = base.unwrap_or_else(|| usual.to_owned());
    let model = Model::new(provider, model, wire, &base, key);
    let vision = Some(model.name());
    Eyes { vision, ..Eyes::new(Client::new(Timeouts::default()), vec![model]) }
}
