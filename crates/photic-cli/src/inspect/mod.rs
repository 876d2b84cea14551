//! `photic inspect`: the tool `inspect` on the command line.

mod batch;
pub(crate) mod models;
mod progress;
pub(crate) mod terminal;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use photic_net::{Client, Timeouts};
use photic_tools::{Answer, InspectArguments, Refusal, RefusalCode, Tools, VisionModels};

use crate::arguments::InspectOptions;
use crate::output::print;
use crate::read::{refused, runtime, tools_builder, with_renderer};
use crate::style::{CYAN, DIM};
use models::ModelSelection;
use terminal::preview;

/// Advice if no model is configured.
const NO_MODELS: &str = "set OPENAI_API_KEY or ANTHROPIC_API_KEY, or pass a server: \
     `--base-url http://127.0.0.1:1234/v1 --model NAME`";

/// Runs the command. Exit code: 0 answered, 1 refused, 2 error.
pub(crate) fn run(options: &InspectOptions) -> anyhow::Result<ExitCode> {
    let tools = tools(options)?;
    match &options.batch.list {
        Some(list) => batch::run(options, list, &tools),
        None => one(options, &tools),
    }
}

/// The tools with the models of the environment.
fn tools(options: &InspectOptions) -> anyhow::Result<Tools> {
    let models = models::from(&ModelSelection::of(options), |name| std::env::var(name).ok());
    let mut models = VisionModels::new(Client::new(Timeouts::default()), models);
    models.vision.clone_from(&options.model);
    models.auto_resize = !options.original;
    let builder = with_renderer(tools_builder(&options.roots)?.vision_models(models));
    builder.build().context("cannot open the roots")
}

/// Asks about one picture.
fn one(options: &InspectOptions, tools: &Tools) -> anyhow::Result<ExitCode> {
    let text = |given: &Option<String>| given.clone().unwrap_or_default();
    let arguments =
        InspectArguments { source: text(&options.source), question: text(&options.question) };
    let answer = runtime()?.block_on(progress::with_spinner(|tell| {
        let arguments = &arguments;
        async move { tools.inspect_telling(arguments, tell).await }
    }));
    let answer = match answer {
        Ok(answer) => answer,
        Err(refusal) => return refused(&with_hint(refusal), options.json),
    };
    if options.json {
        print(format!("{}\n", serde_json::to_string_pretty(&answer)?).as_bytes())
    } else if std::io::stdout().is_terminal() {
        in_terminal(options, &answer)
    } else {
        print(format!("{}\n", answer.text).as_bytes())
    }
}

/// Adds advice for the command line to a refusal.
fn with_hint(mut refusal: Refusal) -> Refusal {
    if refusal.code == RefusalCode::NoModels {
        NO_MODELS.clone_into(&mut refusal.hint);
    }
    refusal
}

/// Prints an answer in a terminal.
fn in_terminal(options: &InspectOptions, answer: &Answer) -> anyhow::Result<ExitCode> {
    let (text, left_out) = terminal::cut(&answer.text, options.show);
    let question = preview(options.question.as_deref().unwrap_or_default());
    let more = match left_out {
        0 => String::new(),
        lines => format!("{CYAN}… {lines} more lines; pass `--show full` to see them{CYAN:#}\n"),
    };
    let footer = terminal::footer(answer);
    let mut out = anstream::stdout().lock();
    writeln!(out, "{DIM}{question}{DIM:#}\n{text}\n{more}{DIM}{footer}{DIM:#}")?;
    Ok(ExitCode::SUCCESS)
}
