//! `photic inspect --batch`: asks about every picture of a list.
//!
//! Chooses the store for the work and reports progress. `photic-tools` decides what is asked when.

mod lines;
mod list;
mod progress;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
#[cfg(feature = "fleet")]
use photic_fleet::{Postgres, PostgresOptions};
use photic_store::work::{WorkList, WorkStore};
use photic_store::{LocalStore, Sqlite, Tenant, Usd};
use photic_tools::{Batch, BatchEnd, BatchOptions, InspectArguments, Model, TokenPrice, Tools};

use crate::arguments::InspectOptions;
use crate::read::refused;
use crate::style::{CYAN, Hint, YELLOW, grouped};
use lines::LineCounts;
use list::ListEntry;
use progress::BatchProgress;

/// Longest time of a database statement.
#[cfg(feature = "fleet")]
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// Factor from the input price to the output price, if the latter is not given. List prices have
/// factors between four and eight.
const OUTPUT_PRICE_FACTOR: f64 = 8.0;

/// Runs the command. Exit code: 0 all answered, 1 not all, 2 error.
pub(super) fn run(
    options: &InspectOptions,
    list: &Path,
    tools: &Tools,
) -> anyhow::Result<ExitCode> {
    let entries = list::read(list, options.batch.each.as_deref())?;
    let model = match tools.asked() {
        Ok(model) => model,
        Err(refusal) => return refused(&super::with_hint(refusal), false),
    };
    let settings = settings(options, model)?;
    let runtime = photic_gateway::runtime().context("cannot start the runtime")?;
    runtime.block_on(async {
        let job = BatchJob { options, entries: &entries, tools, model, settings };
        #[cfg(feature = "fleet")]
        if let Some(file) = &options.batch.fleet {
            let settings = crate::settings::load(Some(file))?.config.fleet;
            // Opening also validates the settings. A gateway's record does not wait, so another one
            // is opened below.
            let named = settings.open()?.and(settings.postgres.as_deref());
            let address = named.ok_or_else(|| {
                anyhow!("`{}` names no fleet servers", file.display())
                    .context(Hint("set `postgres` and `bucket` in `[fleet]`"))
            })?;
            let patience =
                PostgresOptions { patience: STATEMENT_TIMEOUT, ..PostgresOptions::default() };
            let record = Postgres::open(address, patience).await;
            let record = record.context("cannot open the record of the fleet")?;
            return job.done(&record, &Tenant::new(&options.batch.tenant)).await;
        }
        let directory = options.batch.store.clone().or_else(LocalStore::usual_directory);
        let directory = directory
            .context(Hint("pass a directory with `--store`"))
            .context("this system has no state directory for the work")?;
        let shown = directory.display();
        let record = Sqlite::open(&directory)
            .with_context(|| format!("cannot open the record in `{shown}`"))?;
        job.done(&record, &Tenant::local()).await
    })
}

/// A list, and the model and options to ask it with.
struct BatchJob<'a> {
    options: &'a InspectOptions,
    entries: &'a [ListEntry],
    tools: &'a Tools,
    model: &'a Model,
    settings: BatchOptions,
}

impl BatchJob<'_> {
    /// Runs the job and prints the result.
    async fn done<W: WorkStore>(&self, work: &W, tenant: &Tenant) -> anyhow::Result<ExitCode> {
        let began = Instant::now();
        let given = &self.options.batch;
        let digest = list::digest(self.entries, self.model, self.options.original);
        let own_name = digest.to_hex();
        let name = given.job.as_deref().unwrap_or(&own_name[..16]);
        let items = self.entries.len() as u64;
        let chunk = given.chunk.unwrap_or((items / 1000).clamp(100, 1000) as u32);
        let list = WorkList { name, digest: *digest.as_bytes(), items, chunk };
        let job = work.open_job(tenant, &list).await.context("cannot open the job")?;
        let chunks = job.chunks();

        let arguments: Vec<InspectArguments> =
            self.entries.iter().map(ListEntry::arguments).collect();
        let batch = match Batch::new(self.tools, work, job, &arguments, self.settings) {
            Ok(batch) => batch,
            Err(refusal) => return refused(&super::with_hint(refusal), false),
        };
        let meter = BatchProgress::new(self.settings.price.is_some());
        let stop = async {
            signals(1).await;
            meter.say("finishing open requests; interrupt again to exit at once");
        };
        let tell = |progress| meter.at(progress);
        let ended = tokio::select! {
            ended = batch.run(stop, &tell) => ended,
            () = signals(2) => {
                meter.end();
                anstream::eprintln!("interrupted; run the same command again to continue");
                return Ok(ExitCode::from(1));
            }
        };
        meter.end();
        let ended = ended
            .context(Hint("answers are kept; run the same command again to continue"))
            .context("the record of the work failed")?;
        let counts = lines::write(&batch, chunks, self.entries, given.output.as_deref()).await?;
        let words = counts.words(&meter.last(), batch.asked(), began.elapsed());
        anstream::eprintln!("{words} · job {name}");
        self.report_end(&ended, &counts)
    }

    /// Reports why the run ended, and how to continue.
    fn report_end(&self, ended: &BatchEnd, counts: &LineCounts) -> anyhow::Result<ExitCode> {
        let again = "run the same command again to continue";
        let (why, hint) = match ended {
            BatchEnd::Done => {
                if counts.failed > 0 {
                    let hint = "run the same command again to retry the failed ones";
                    anstream::eprintln!("\n{CYAN}hint:{CYAN:#} {hint}");
                }
                return Ok(ExitCode::from(u8::from(counts.answered < counts.all())));
            }
            BatchEnd::Capped => {
                let cap = self.options.batch.spend_at_most.map(Usd::dollars).unwrap_or_default();
                let why = format!("the next question could exceed the limit of {cap}");
                (why, "raise `--spend-at-most` and run the same command again to continue")
            }
            BatchEnd::Stopped => ("interrupted".to_owned(), again),
            BatchEnd::Hopeless(refusal) => {
                let left = grouped(counts.pending);
                anstream::eprintln!("{YELLOW}stopped:{YELLOW:#} {left} are left");
                return refused(refusal, false);
            }
        };
        anstream::eprintln!(
            "{YELLOW}stopped:{YELLOW:#} {why}; {} are left\n\n{CYAN}hint:{CYAN:#} {hint}",
            grouped(counts.pending)
        );
        Ok(ExitCode::from(1))
    }
}

/// The options of the batch.
fn settings(options: &InspectOptions, model: &Model) -> anyhow::Result<BatchOptions> {
    let given = &options.batch;
    let listed = model.profile.price.map(|price| {
        let input = price.input_usd_per_million;
        let guess = input * OUTPUT_PRICE_FACTOR;
        TokenPrice { input, output: price.output_usd_per_million.unwrap_or(guess) }
    });
    let price = given.price.map(|price| price.0).or(listed);
    if given.spend_at_most.is_some() && price.is_none() {
        let model = model.name();
        return Err(anyhow!(
            "the price of `{model}` is unknown, so `--spend-at-most` cannot be applied"
        )
        .context(Hint("pass `--price IN/OUT`, in dollars per million tokens")));
    }
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).context("cannot get random numbers from the system")?;
    Ok(BatchOptions {
        at_once: usize::from(given.at_once),
        cap: given.spend_at_most.map(Usd::dollars),
        price,
        lease: Duration::from_secs(u64::from(given.lease)),
        attempts: given.attempts,
        seed: u64::from_le_bytes(seed),
    })
}

/// Waits for a number of interrupts.
async fn signals(times: u32) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        if let (Ok(mut interrupt), Ok(mut terminate)) = kinds {
            for _ in 0..times {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            }
            return;
        }
    }
    #[cfg(not(unix))]
    for _ in 0..times {
        if tokio::signal::ctrl_c().await.is_err() {
            break;
        }
    }
    std::future::pending::<()>().await;
}
