//! `photic simulate`: compares the cost of a session under each retention policy, as a table, JSON
//! or a plot.

mod check;
mod plot;
mod table;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use photic::profile::MediaKind;
use photic::retention::{MaxLoad, NOTICE, Retention};
use photic::simulate::{Cache, Contender, Outcome, Session, Setting, optimum, run as play};
use photic::tokens::text_tokens;
use photic::{Policy, Transcript};

use crate::arguments::SimulateOptions;
use crate::body_format::BodyFormat;
use crate::input::read_bytes;
use crate::model::TargetModel;
use crate::output::named_file;

/// The interval rule of a published client: images kept, and images between two removals.
const INTERVAL: (usize, usize) = (3, 40);

/// The size of an image, and tokens of the prompt and of a step, if nothing else is said.
const IMAGE: (u32, u32) = (1280, 800);
const SYSTEM: u64 = 3000;
const TEXT: u64 = 300;

/// The window that clients commonly keep.
const WINDOW: usize = 4;

/// Runs the command.
pub(crate) fn run(options: &SimulateOptions) -> anyhow::Result<ExitCode> {
    if options.check {
        return check::run();
    }
    let comparison = Comparison::new(options)?;
    comparison.target.warn();
    if let Some(path) = named_file(options.output.as_deref()) {
        write(path, &comparison)?;
        // As with `--svg`, its old name, a plot does not replace the table.
        if !is_plot(path) {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let out = anstream::stdout().lock();
    if options.json {
        table::as_json(out, &comparison)?;
    } else {
        table::as_text(out, &comparison)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns `true` if a plot is written to a file of this name.
fn is_plot(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"))
}

/// Writes the comparison to a file, in the format of its extension.
fn write(path: &Path, comparison: &Comparison) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    if is_plot(path) {
        bytes = plot::svg(comparison).into_bytes();
    } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        table::as_json(&mut bytes, comparison)?;
    } else {
        table::as_text(anstream::StripStream::new(&mut bytes), comparison)?;
    }
    std::fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

/// One session under every policy.
struct Comparison {
    target: TargetModel,
    image: (u32, u32),
    setting: Setting,
    lines: Vec<Line>,
}

/// The session under one policy.
struct Line {
    name: String,
    whose: PolicyGroup,
    /// `true` for the policy of the settings and options.
    in_force: bool,
    outcome: Outcome,
}

/// The group of a policy in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PolicyGroup {
    /// The policy of the settings and options, if it is none of the others.
    InForce,
    /// A policy of photic, with the client's own cache breakpoints.
    Default,
    /// A policy of photic, with planned cache breakpoints.
    Photic,
    /// Common policies of clients.
    Others,
    /// The optimum, which knows when the session ends.
    Nobody,
}

/// The facts of a body that describe a session like it.
struct BodyFacts {
    target: TargetModel,
    image: Option<(u32, u32)>,
    system: u64,
    text: u64,
}

impl BodyFacts {
    fn read(options: &SimulateOptions) -> anyhow::Result<Option<Self>> {
        let Some(file) = options.file.as_deref() else { return Ok(None) };
        let input = read_bytes(Some(file), "")?;
        let dump = || photic::detect_dump(&input.body).map(BodyFormat::Dump);
        let wire = || photic::detect(&input.body).map(BodyFormat::Wire);
        let Some(format) = options.from.or_else(dump).or_else(wire) else {
            return input.unknown();
        };
        let (transcript, _) = format.lift(&input.body);
        if !transcript.is_readable() {
            return input.unknown();
        }
        let model = options.model.as_deref();
        let target = match format {
            BodyFormat::Wire(wire) => TargetModel::of(model, &transcript, wire),
            BodyFormat::Dump(_) => TargetModel::on_any_wire(model, Some(&transcript)),
        };
        Ok(Some(Self::of(&transcript, target)))
    }

    fn of(transcript: &Transcript<'_>, target: TargetModel) -> Self {
        let survey = photic::survey(transcript);
        let mut sizes: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let images = survey.sightings.iter().filter(|one| one.kind == MediaKind::Image);
        for size in images.filter_map(|one| one.header.size) {
            *sizes.entry(size).or_default() += 1;
        }
        // The prompt is what comes before the first answer; the rest belongs to the steps.
        let first = survey.requests.first().copied().unwrap_or(0).min(survey.words.len());
        let bytes = |messages: &[usize]| messages.iter().sum::<usize>() as u64;
        let steps = survey.requests.len().saturating_sub(1).max(1) as u64;
        let (prompt, others) = survey.words.split_at(first);
        Self {
            target,
            image: sizes.into_iter().max_by_key(|&(_, count)| count).map(|(size, _)| size),
            system: text_tokens(survey.settings as u64 + bytes(prompt)),
            text: text_tokens(bytes(others)) / steps,
        }
    }
}

impl Comparison {
    fn new(options: &SimulateOptions) -> anyhow::Result<Self> {
        let policy = options.retention.policy()?;
        let body = BodyFacts::read(options)?;
        let (size, system, text) =
            body.as_ref().map_or((None, SYSTEM, TEXT), |it| (it.image, it.system, it.text));
        let target = body.map_or_else(
            || TargetModel::on_any_wire(options.model.as_deref(), None),
            |body| body.target,
        );
        let profile = &target.profile;
        let image = options.image.or(size).unwrap_or(IMAGE);
        let session = Session {
            steps: options.steps as usize,
            system: options.system.unwrap_or(system),
            text: options.text.unwrap_or(text),
            image: profile.image_tokens(image.0, image.1, profile.quirks.detail),
            notice: NOTICE.0,
            every: options.every as usize,
        };
        let room = MaxLoad {
            images: profile.limits.images.map(u64::from),
            tokens: profile.limits.context_tokens,
            ..MaxLoad::default()
        };
        let floor = policy.floor.max(1);
        let setting = Setting { session, floor, cache: Cache::from(&profile.cache), room };
        let lines = lines(&setting, &policy);
        Ok(Self { target, image, setting, lines })
    }

    /// The cost of keeping everything, which the others are compared with.
    fn all(&self) -> f64 {
        let all = self.lines.iter().rev().find(|line| line.whose == PolicyGroup::Others);
        all.map_or(0.0, |line| line.outcome.cost())
    }

    fn usd(&self, tokens: f64) -> Option<f64> {
        self.target.profile.price.map(|price| price.of(tokens))
    }

    /// Returns `true` if the longest request exceeds the model's context.
    fn is_over(&self, line: &Line) -> bool {
        self.target.profile.limits.context_tokens.is_some_and(|most| line.outcome.peak > most)
    }

    fn model(&self) -> &str {
        self.target.model.as_deref().unwrap_or("any model")
    }
}

/// The policies, grouped.
fn lines(setting: &Setting, policy: &Policy) -> Vec<Line> {
    let (least, every) = INTERVAL;
    let turns = setting.floor.saturating_sub(1);
    let chosen = if policy.marks {
        Contender::Photic(policy.retention)
    } else {
        Contender::Unmarked(policy.retention)
    };
    let line = |name: String, whose: PolicyGroup, contender: Contender| Line {
        name,
        whose,
        in_force: contender == chosen,
        outcome: play(setting, contender),
    };
    let photic = |name: String, policy| line(name, PolicyGroup::Photic, Contender::Photic(policy));
    let unmarked = |name: &str, policy| {
        line(name.to_owned(), PolicyGroup::Default, Contender::Unmarked(policy))
    };
    let others = |name: String, contender| line(name, PolicyGroup::Others, contender);
    let mut lines = vec![
        unmarked("all (default)", Retention::default()),
        unmarked("priced, no marks", Retention::Priced),
        photic("priced".to_owned(), Retention::Priced),
        photic(format!("turns({turns})"), Retention::Turns(turns)),
        photic(format!("newest({WINDOW})"), Retention::Newest(WINDOW)),
        photic("all".to_owned(), Retention::All),
        others(format!("window of {WINDOW}"), Contender::Sliding(WINDOW)),
        others(format!("{least} left every {every}"), Contender::Interval { least, every }),
        others("everything".to_owned(), Contender::All),
        Line {
            name: "optimum".to_owned(),
            whose: PolicyGroup::Nobody,
            in_force: false,
            outcome: optimum(setting),
        },
    ];
    if !lines.iter().any(|line| line.in_force) {
        let marks = if policy.marks { ", marks" } else { "" };
        lines.insert(
            0,
            Line {
                name: format!("{}{marks}", policy.retention),
                whose: PolicyGroup::InForce,
                in_force: true,
                outcome: play(setting, chosen),
            },
        );
    }
    lines
}
