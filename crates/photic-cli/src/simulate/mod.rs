//! `photic simulate`: compares the cost of a session under each retention policy, as a table, JSON
//! or a plot.

mod check;
mod plot;
mod table;

use std::process::ExitCode;

use anyhow::Context as _;
use photic::Profile;
use photic::retention::{MaxLoad, NOTICE, Retention};
use photic::simulate::{Cache, Contender, Outcome, Session, Setting, optimum, run as play};

use crate::arguments::SimulateOptions;
use crate::view::profile;

/// The interval rule of a published client: images kept, and images between two removals.
const INTERVAL: (usize, usize) = (3, 40);

/// The window that clients commonly keep.
const WINDOW: usize = 4;

/// Runs the command.
pub(crate) fn run(options: &SimulateOptions) -> anyhow::Result<ExitCode> {
    if options.check {
        return check::run();
    }
    let comparison = Comparison::new(options);
    if let Some(path) = &options.svg {
        std::fs::write(path, plot::svg(&comparison))
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let out = anstream::stdout().lock();
    if options.json {
        table::as_json(out, &comparison)?;
    } else {
        table::as_text(out, &comparison)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One session under every policy.
struct Comparison {
    model: Option<String>,
    profile: Profile,
    image: (u32, u32),
    setting: Setting,
    lines: Vec<Line>,
}

/// The session under one policy.
struct Line {
    name: String,
    whose: PolicyGroup,
    outcome: Outcome,
}

/// The group of a policy in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PolicyGroup {
    /// A policy of photic, with the client's own cache breakpoints.
    Default,
    /// A policy of photic, with planned cache breakpoints.
    Photic,
    /// Common policies of clients.
    Others,
    /// The optimum, which knows when the session ends.
    Nobody,
}

impl Comparison {
    fn new(options: &SimulateOptions) -> Self {
        let profile = profile(options.model.as_deref());
        let (width, height) = options.image;
        let session = Session {
            steps: options.steps as usize,
            system: options.system,
            text: options.text,
            image: profile.image_tokens(width, height, profile.quirks.detail),
            notice: NOTICE.0,
            every: options.every as usize,
        };
        let room = MaxLoad {
            images: profile.limits.images.map(u64::from),
            tokens: profile.limits.context_tokens,
            ..MaxLoad::default()
        };
        let floor = options.floor as usize;
        let setting = Setting { session, floor, cache: Cache::from(&profile.cache), room };
        let lines = lines(&setting);
        Self { model: options.model.clone(), profile, image: options.image, setting, lines }
    }

    /// The cost of keeping everything, which the others are compared with.
    fn all(&self) -> f64 {
        let all = self.lines.iter().rev().find(|line| line.whose == PolicyGroup::Others);
        all.map_or(0.0, |line| line.outcome.cost())
    }

    fn usd(&self, tokens: f64) -> Option<f64> {
        self.profile.price.map(|price| price.of(tokens))
    }

    /// Returns `true` if the longest request exceeds the model's context.
    fn is_over(&self, line: &Line) -> bool {
        self.profile.limits.context_tokens.is_some_and(|most| line.outcome.peak > most)
    }

    fn model(&self) -> &str {
        self.model.as_deref().unwrap_or("any model")
    }
}

/// The policies, grouped.
fn lines(setting: &Setting) -> Vec<Line> {
    let (least, every) = INTERVAL;
    let turns = setting.floor - 1;
    let photic = |name: String, policy: Retention| Line {
        name,
        whose: PolicyGroup::Photic,
        outcome: play(setting, Contender::Photic(policy)),
    };
    let unmarked = |name: &str, policy: Retention| Line {
        name: name.to_owned(),
        whose: PolicyGroup::Default,
        outcome: play(setting, Contender::Unmarked(policy)),
    };
    let others = |name: String, contender: Contender| Line {
        name,
        whose: PolicyGroup::Others,
        outcome: play(setting, contender),
    };
    vec![
        unmarked("all (default)", Retention::default()),
        unmarked("priced, no marks", Retention::Priced),
        photic("priced".to_owned(), Retention::Priced),
        photic(format!("turns({turns})"), Retention::Turns(turns)),
        photic(format!("newest({WINDOW})"), Retention::Newest(WINDOW)),
        photic("all".to_owned(), Retention::All),
        others(format!("window of {WINDOW}"), Contender::Sliding(WINDOW)),
        others(format!("{least} left every {every}"), Contender::Interval { least, every }),
        others("everything".to_owned(), Contender::All),
        Line { name: "optimum".to_owned(), whose: PolicyGroup::Nobody, outcome: optimum(setting) },
    ]
}
