//! `photic inspect`: the tool `inspect` on the command line.

mod batch;
pub(crate) mod models;
mod progress;
mod terminal;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use photic_net::{Client, Timeouts};
use photic_tools::{Answer, InspectArguments, Refusal, RefusalCode, Tools, VisionModels};

use crate::arguments::InspectOptions;
use crate::print;
use crate::read::{refused, rendering, runtime, within};
use crate::style::{CYAN, DIM};
use models::Asked;
pub(crate) use terminal::Shown;
use terminal::preview;

/// What to do on a command line where no model is known.
const NO_MODELS: &str = "set OPENAI_API_KEY or ANTHROPIC_API_KEY, or name a server: \
     `--base-url http://127.0.0.1:1234/v1 --model NAME`";

/// 0 answered, 1 refused, 2 error or misuse.
pub(crate) fn run(options: &InspectOptions) -> anyhow::Result<ExitCode> {
    let tools = tools(options)?;
    match &options.batch.list {
        Some(list) => batch::run(options, list, &tools),
        None => one(options, &tools),
    }
}

fn tools(options: &InspectOptions) -> anyhow::Result<Tools> {
    let models = models::from(&Asked::of(options), |name| std::env::var(name).ok());
    let mut eyes = VisionModels::new(Client::new(Timeouts::default()), models);
    eyes.vision.clone_from(&options.model);
    eyes.auto_resize = !options.original;
    let builder = rendering(within(&options.roots)?.vision_models(eyes));
    builder.build().context("cannot open the roots")
}

fn one(options: &InspectOptions, tools: &Tools) -> anyhow::Result<ExitCode> {
    let text = |given: &Option<String>| given.clone().unwrap_or_default();
    let arguments =
        InspectArguments { source: text(&options.source), question: text(&options.question) };
    let answer = runtime()?.block_on(progress::told(|tell| {
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

/// A refusal that says what to do on a command line.
fn with_hint(mut refusal: Refusal) -> Refusal {
    if refusal.code == RefusalCode::NoModels {
        NO_MODELS.clone_into(&mut refusal.hint);
    }
    refusal
}

fn in_terminal(options: &InspectOptions, answer: &Answer) -> anyhow::Result<ExitCode> {
    let (text, left_out) = terminal::cut(&answer.text, options.show);
    let question = preview(options.question.as_deref().unwrap_or_default());
    let more = match left_out {
        0 => String::new(),
        lines => format!("{CYAN}… {lines} more lines; `--show full` has them{CYAN:#}\n"),
    };
    let footer = terminal::footer(answer);
    let mut out = anstream::stdout().lock();
    writeln!(out, "{DIM}{question}{DIM:#}\n{text}\n{more}{DIM}{footer}{DIM:#}")?;
    Ok(ExitCode::SUCCESS)
}
