//! `photic probe`: tests on the command line whether a model sees.

mod lessons;
#[cfg(feature = "offline-probe")]
mod offline;
#[cfg(not(feature = "offline-probe"))]
#[path = "offline_absent.rs"]
mod offline;
mod progress;
mod publish;
mod report;
mod table;

use std::process::ExitCode;

use anyhow::Context as _;
use photic::Wire;
use photic_gateway::learned::{self, Entry};
use photic_net::{Client, Timeouts};
use photic_probe::{
    Endpoint, PicturePosition, ProbeReport, ProbeSettings, ProbeTarget, Publish, Verdict, estimate,
};
use photic_tools::{Key, Model};

use crate::arguments::{ProbeOptions, ProbePath};
use crate::inspect::models::{self, ModelSelection};
use crate::output::{is_standard_output, named_file};
use crate::read::runtime;
use crate::style::Hint;
pub(crate) use lessons::lessons;
use publish::PublishFolder;
pub(crate) use table::ProbeTable;

/// Runs the command. Exit code: 0 it sees, 1 it does not, 2 error.
pub(crate) fn run(options: &ProbeOptions) -> anyhow::Result<ExitCode> {
    let mut settings = settings(options)?;
    if options.offline {
        settings.tasks = offline::TASKS.to_vec();
        return read_offline(options, &settings);
    }
    let (endpoint, target) = endpoint(options)?;
    let estimate = estimate(&target, &settings);
    report::announce(&estimate, options)?;
    if options.spend.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if estimate.usd.is_some_and(|usd| usd > options.spend.cap) && !options.spend.yes {
        let hint = Hint("raise `--cap`, pass `--yes`, or test fewer `--paths`");
        let over = format!("this may cost more than {:.2} dollars", options.spend.cap);
        return Err(anyhow::anyhow!(over).context(hint));
    }
    let table = ProbeTable::of(vec![probe(options, &settings, &endpoint, &target)?]);
    let learned = if options.no_learn { Vec::new() } else { learn(options, &table)? };
    told(options, &table, &learned)
}

/// Tests the chart reader on each of its wires. Nothing is learned: the server ends with the test.
fn read_offline(options: &ProbeOptions, settings: &ProbeSettings) -> anyhow::Result<ExitCode> {
    let reader = offline::ChartReaderServer::start()?;
    let mut reports = Vec::new();
    for wire in [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic] {
        let base_url = format!("{}/v1", reader.address.trim_end_matches('/'));
        let client = Client::new(Timeouts::default());
        // The server needs no key, but a replacement in a test may.
        let key = Some("none".to_owned());
        let model = offline::MODEL.to_owned();
        let endpoint = Endpoint { wire, base_url, model: model.clone(), key, client };
        let target = ProbeTarget { wire, model, profile: photic::Profile::generic(wire) };
        reports.push(probe(options, settings, &endpoint, &target)?);
    }
    told(options, &ProbeTable::of(reports), &[])
}

/// Tests one endpoint.
fn probe(
    options: &ProbeOptions,
    settings: &ProbeSettings,
    endpoint: &Endpoint,
    target: &ProbeTarget,
) -> anyhow::Result<ProbeReport> {
    let folder = options.publish.as_deref().zip(options.published_at.as_deref());
    let folder = folder.map(|(folder, address)| PublishFolder::new(folder, address));
    let publish = |file: &photic_probe::PictureFile| {
        folder.as_ref().map_or_else(String::new, |folder| folder.publish(file))
    };
    let publish: Option<Publish<'_>> = folder.is_some().then_some(&publish);
    let bar = progress::Bar::new();
    let ask = async |body| endpoint.ask(body).await;
    let probe = photic_probe::run(target, settings, publish, ask, |step| bar.show(&step));
    let report = runtime()?.block_on(probe);
    bar.clear();
    let mut report = report.with_context(|| format!("cannot ask `{}`", target.model))?;
    endpoint.host().clone_into(&mut report.host);
    Ok(report)
}

/// Prints the results for people or as JSON, and exports them if requested.
fn told(options: &ProbeOptions, table: &ProbeTable, learned: &[Entry]) -> anyhow::Result<ExitCode> {
    if let Some(file) = named_file(options.output.as_deref()) {
        table.write(file)?;
    }
    if options.json || options.output.as_deref().is_some_and(is_standard_output) {
        crate::output::print(format!("{}\n", table.json()?).as_bytes())?;
    } else {
        for report in &table.reports {
            report::print(report, learned)?;
        }
    }
    Ok(if table.reports.iter().all(sees) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Returns `true` if a picture in the user's message is seen; without that test, if all others are.
fn sees(report: &ProbeReport) -> bool {
    match report.at(PicturePosition::User) {
        Some(finding) => finding.verdict == Verdict::Sees,
        None => report.findings.iter().all(|finding| finding.verdict == Verdict::Sees),
    }
}

/// The endpoint to test, with its key.
fn endpoint(options: &ProbeOptions) -> anyhow::Result<(Endpoint, ProbeTarget)> {
    let variable = |name: &str| std::env::var(name).ok().filter(|key| !key.trim().is_empty());
    let name = options.model.as_deref().context("no model given")?;
    let asked = ModelSelection {
        model: Some(name),
        wire: options.wire,
        base_url: options.base_url.as_deref(),
    };
    let Model { wire, base_url, key, profile, .. } =
        models::from(&asked, variable).pop().context("no model given")?;
    let key = match (&options.key_env, key) {
        (Some(name), _) => {
            let given = variable(name).with_context(|| format!("`{name}` is not set"))?;
            Some(given)
        }
        (None, Key::Given(key)) => Some(key),
        (None, Key::Open) => None,
        (None, Key::Missing) => {
            let hint = Hint(
                "set OPENAI_API_KEY or ANTHROPIC_API_KEY, or pass another variable with `--key-env NAME`",
            );
            let missing = format!("no key for `{name}`");
            return Err(anyhow::anyhow!(missing).context(hint));
        }
    };
    let client = Client::new(Timeouts::default());
    let model = name.to_owned();
    let target = ProbeTarget { wire, model: model.clone(), profile };
    Ok((Endpoint { wire, base_url, model, key, client }, target))
}

/// The options of the test.
fn settings(options: &ProbeOptions) -> anyhow::Result<ProbeSettings> {
    let usual = ProbeSettings::default();
    let (mut places, mut notices) = (Vec::new(), Vec::new());
    for path in &options.paths {
        match path {
            ProbePath::PicturePosition(place) => places.push(*place),
            ProbePath::Notice(notice) => notices.push(*notice),
        }
    }
    if options.paths.is_empty() {
        places.clone_from(&usual.places);
        if options.publish.is_some() {
            places.push(PicturePosition::Url);
        }
        notices.extend(photic_probe::Notice::ALL);
    }
    let seed = match options.seed {
        Some(seed) => seed,
        None => getrandom::u64().context("cannot get random numbers from the system")?,
    };
    let formats = options.formats.clone();
    let cap_usd = (!options.spend.yes).then_some(options.spend.cap);
    let (sides, trials) = (options.sizes.clone(), options.trials);
    Ok(ProbeSettings { places, notices, formats, sides, trials, seed, cap_usd, ..usual })
}

/// Saves the lessons for gateways, and returns them.
fn learn(options: &ProbeOptions, table: &ProbeTable) -> anyhow::Result<Vec<Entry>> {
    let entries = table.lessons();
    let file = match &options.file {
        Some(file) => Some(file.clone()),
        None => crate::settings::learned_file()?,
    };
    let Some(file) = file.filter(|_| !entries.is_empty()) else { return Ok(Vec::new()) };
    learned::teach(&file, &entries)
        .with_context(|| format!("cannot change `{}`", file.display()))?;
    Ok(entries)
}
