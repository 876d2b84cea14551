//! `photic inspect --batch`: a list in, lines of JSON out, and words on the way.
//!
//! What is asked, when and how often is the business of `photic-tools`; which store keeps the work
//! is decided here.

mod lines;
mod list;
mod progress;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use photic_fleet::{Postgres, PostgresOptions};
use photic_store::work::{WorkList, WorkStore};
use photic_store::{LocalStore, Sqlite, Tenant, Usd};
use photic_tools::{Batch, BatchEnd, BatchOptions, InspectArguments, Model, TokenPrice, Tools};

use crate::arguments::InspectOptions;
use crate::read::refused;
use crate::style::{CYAN, Hint, YELLOW, grouped};
use lines::Counts;
use list::Entry;
use progress::Meter;

/// How long a statement may take: nobody waits for it but this process.
const PATIENCE: Duration = Duration::from_secs(30);
/// What is written costs that many times what is read, unless somebody says what it does. List
/// prices lie between four and eight.
const WRITTEN: f64 = 8.0;

/// 0 all answered, 1 not all, 2 error or misuse.
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
        let job = Asked { options, entries: &entries, tools, model, settings };
        if let Some(file) = &options.batch.fleet {
            let settings = crate::settings::load(Some(file))?.config.fleet;
            // It also says what is wrong with them; the record it opens is a gateway's, which waits
            // for nothing.
            let named = settings.open()?.and(settings.postgres.as_deref());
            let address = named.ok_or_else(|| {
                anyhow!("`{}` names no servers", file.display())
                    .context(Hint("set `postgres` and `bucket` below `[fleet]`"))
            })?;
            let patience = PostgresOptions { patience: PATIENCE, ..PostgresOptions::default() };
            let record = Postgres::open(address, patience).await;
            let record = record.context("cannot open the record of the fleet")?;
            return job.done(&record, &Tenant::new(&options.batch.tenant)).await;
        }
        let directory = options.batch.record.clone().or_else(LocalStore::usual_directory);
        let directory = directory
            .context(Hint("name a directory with `--record`"))
            .context("this system does not say where work is kept")?;
        let shown = directory.display();
        let record = Sqlite::open(&directory)
            .with_context(|| format!("cannot open the record in `{shown}`"))?;
        job.done(&record, &Tenant::local()).await
    })
}

/// A list, and whom it is about to be asked of.
struct Asked<'a> {
    options: &'a InspectOptions,
    entries: &'a [Entry],
    tools: &'a Tools,
    model: &'a Model,
    settings: BatchOptions,
}

impl Asked<'_> {
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

        let arguments: Vec<InspectArguments> = self.entries.iter().map(Entry::arguments).collect();
        let batch = match Batch::new(self.tools, work, job, &arguments, self.settings) {
            Ok(batch) => batch,
            Err(refusal) => return refused(&super::with_hint(refusal), false),
        };
        let meter = Meter::new(self.settings.price.is_some());
        let stop = async {
            signals(1).await;
            meter.say("ending what is under way; once more to leave at once");
        };
        let tell = |progress| meter.at(progress);
        let ended = tokio::select! {
            ended = batch.run(stop, &tell) => ended,
            () = signals(2) => {
                meter.end();
                anstream::eprintln!("left; run the same command again to go on");
                return Ok(ExitCode::from(1));
            }
        };
        meter.end();
        let ended = ended
            .context(Hint("what was answered is kept; run the same command again to go on"))
            .context("the record of the work failed")?;
        let counts = lines::write(&batch, chunks, self.entries, given.out.as_deref()).await?;
        let words = counts.words(&meter.last(), batch.asked(), began.elapsed());
        anstream::eprintln!("{words} · job {name}");
        self.farewell(&ended, &counts)
    }

    /// What is left to do, and how.
    fn farewell(&self, ended: &BatchEnd, counts: &Counts) -> anyhow::Result<ExitCode> {
        let again = "run the same command again to go on";
        let (why, hint) = match ended {
            BatchEnd::Done => {
                if counts.failed > 0 {
                    let hint = "run the same command again to ask about those that failed";
                    anstream::eprintln!("\n{CYAN}hint:{CYAN:#} {hint}");
                }
                return Ok(ExitCode::from(u8::from(counts.answered < counts.all())));
            }
            BatchEnd::Capped => {
                let cap = self.options.batch.spend_at_most.map(Usd::dollars).unwrap_or_default();
                let why = format!("the next question could make it cost more than {cap}");
                (why, "raise `--spend-at-most` and run the same command again to go on")
            }
            BatchEnd::Stopped => ("as told".to_owned(), again),
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

fn settings(options: &InspectOptions, model: &Model) -> anyhow::Result<BatchOptions> {
    let given = &options.batch;
    let listed = model.profile.price.map(|price| price.input_usd_per_million);
    let listed = listed.map(|input| TokenPrice { input, output: input * WRITTEN });
    let price = given.price.map(|price| price.0).or(listed);
    if given.spend_at_most.is_some() && price.is_none() {
        let model = model.name();
        return Err(anyhow!("nobody knows what `{model}` costs, so a cap cannot be kept")
            .context(Hint("say it with `--price IN/OUT`, in dollars a million tokens")));
    }
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).context("the system gives no random numbers")?;
    Ok(BatchOptions {
        at_once: usize::from(given.at_once),
        cap: given.spend_at_most.map(Usd::dollars),
        price,
        lease: Duration::from_secs(u64::from(given.lease)),
        attempts: given.attempts,
        seed: u64::from_le_bytes(seed),
    })
}

/// Waits until somebody has said so often that it should end.
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
