//! `photic probe`: whether a model sees, on the command line.

mod lessons;
mod offline;
mod progress;
mod publish;
mod table;
mod words;

use std::process::ExitCode;

use anyhow::Context as _;
use photic::Wire;
use photic_gateway::learned::{self, Entry};
use photic_net::{Client, Timeouts};
use photic_probe::{Endpoint, Place, Publish, Report, Settings, Target, Verdict, estimate};
use photic_tools::{Key, Model};

use crate::arguments::{Path, ProbeOptions};
use crate::inspect::models::{self, Asked};
use crate::read::runtime;
use crate::style::Hint;
pub(crate) use lessons::lessons;
use publish::Folder;
pub(crate) use table::Table;

/// 0 it sees, 1 it does not, 2 error or misuse.
pub(crate) fn run(options: &ProbeOptions) -> anyhow::Result<ExitCode> {
    let mut settings = settings(options)?;
    if options.offline {
        settings.tasks = offline::TASKS.to_vec();
        return read_offline(options, &settings);
    }
    let (endpoint, target) = endpoint(options)?;
    let estimate = estimate(&target, &settings);
    words::announce(&estimate, options)?;
    if options.spend.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if estimate.usd.is_some_and(|usd| usd > options.spend.cap) && !options.spend.yes {
        let hint = Hint("raise `--cap`, say `--yes`, or try fewer `--paths`");
        let over = format!("this may cost more than {:.2} dollars", options.spend.cap);
        return Err(anyhow::anyhow!(over).context(hint));
    }
    let table = Table::of(vec![probe(options, &settings, &endpoint, &target)?]);
    let learned = if options.no_learn { Vec::new() } else { learn(options, &table)? };
    told(options, &table, &learned)
}

/// The chart reader, through each of its doors. It teaches nothing: it is gone afterwards.
fn read_offline(options: &ProbeOptions, settings: &Settings) -> anyhow::Result<ExitCode> {
    let reader = offline::Reader::start()?;
    let mut reports = Vec::new();
    for wire in [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic] {
        let base_url = format!("{}/v1", reader.address.trim_end_matches('/'));
        let client = Client::new(Timeouts::default());
        // It asks for none, and whoever stands in for it may.
        let key = Some("none".to_owned());
        let model = offline::MODEL.to_owned();
        let endpoint = Endpoint { wire, base_url, model: model.clone(), key, client };
        let target = Target { wire, model, profile: photic::Profile::generic(wire) };
        reports.push(probe(options, settings, &endpoint, &target)?);
    }
    told(options, &Table::of(reports), &[])
}

fn probe(
    options: &ProbeOptions,
    settings: &Settings,
    endpoint: &Endpoint,
    target: &Target,
) -> anyhow::Result<Report> {
    let folder = options.publish.as_deref().zip(options.published_at.as_deref());
    let folder = folder.map(|(folder, address)| Folder::new(folder, address));
    let publish = |file: &photic_probe::File| {
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

/// Says what was found, in words or as data.
fn told(options: &ProbeOptions, table: &Table, learned: &[Entry]) -> anyhow::Result<ExitCode> {
    if let Some(file) = &options.export {
        table.write(file)?;
    }
    if options.json {
        crate::print(format!("{}\n", table.json()?).as_bytes())?;
    } else {
        for report in &table.reports {
            words::report(report, learned)?;
        }
    }
    Ok(if table.reports.iter().all(sees) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A user's picture is what counts; without one, whatever was tried.
fn sees(report: &Report) -> bool {
    match report.at(Place::User) {
        Some(finding) => finding.verdict == Verdict::Sees,
        None => report.findings.iter().all(|finding| finding.verdict == Verdict::Sees),
    }
}

fn endpoint(options: &ProbeOptions) -> anyhow::Result<(Endpoint, Target)> {
    let variable = |name: &str| std::env::var(name).ok().filter(|key| !key.trim().is_empty());
    let name = options.model.as_deref().context("no model was named")?;
    let asked =
        Asked { model: Some(name), wire: options.wire, base_url: options.base_url.as_deref() };
    let Model { wire, base_url, key, profile, .. } =
        models::from(&asked, variable).pop().context("no model was named")?;
    let key = match (&options.key_env, key) {
        (Some(name), _) => {
            let given = variable(name).with_context(|| format!("`{name}` is not set"))?;
            Some(given)
        }
        (None, Key::Given(key)) => Some(key),
        (None, Key::Open) => None,
        (None, Key::Missing) => {
            let hint = Hint(
                "set OPENAI_API_KEY or ANTHROPIC_API_KEY, or name a variable: `--key-env NAME`",
            );
            let missing = format!("there is no key for `{name}`");
            return Err(anyhow::anyhow!(missing).context(hint));
        }
    };
    let client = Client::new(Timeouts::default());
    let model = name.to_owned();
    let target = Target { wire, model: model.clone(), profile };
    Ok((Endpoint { wire, base_url, model, key, client }, target))
}

fn settings(options: &ProbeOptions) -> anyhow::Result<Settings> {
    let usual = Settings::default();
    let (mut places, mut notices) = (Vec::new(), Vec::new());
    for path in &options.paths {
        match path {
            Path::Place(place) => places.push(*place),
            Path::Notice(notice) => notices.push(*notice),
        }
    }
    if options.paths.is_empty() {
        places.clone_from(&usual.places);
        if options.publish.is_some() {
            places.push(Place::Url);
        }
        notices.extend(photic_probe::Notice::ALL);
    }
    let seed = match options.seed {
        Some(seed) => seed,
        None => getrandom::u64().context("this system has no random numbers")?,
    };
    let formats = options.formats.clone();
    let cap_usd = (!options.spend.yes).then_some(options.spend.cap);
    let (sides, trials) = (options.sizes.clone(), options.trials);
    Ok(Settings { places, notices, formats, sides, trials, seed, cap_usd, ..usual })
}

/// Keeps what was found, for gateways; what that is.
fn learn(options: &ProbeOptions, table: &Table) -> anyhow::Result<Vec<Entry>> {
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
