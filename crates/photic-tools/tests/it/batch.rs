//! Batches with a store that is unavailable now and then, and a provider that answers late or
//! never.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use photic::Wire;
use photic_mock::{Chart, Misbehavior};
use photic_store::work::{
    Claim, Job, JobStatus, QuestionKey, QuestionRequest, Usd, WorkList, WorkerId,
};
use photic_store::{Error, Sqlite, Tenant, WorkStore};
use photic_tools::{Batch, BatchEnd, BatchOptions, LineOutcome, Progress, TokenPrice, Tools};

use crate::asking::{QUESTION, misbehaving, mock, model, tools, vision_models};
use crate::world::{World, asking, wait};

/// A store that is unavailable for every third chunk.
struct NowAndThen {
    work: Sqlite,
    taken: AtomicUsize,
}

impl WorkStore for NowAndThen {
    async fn take(
        &self,
        job: &Job,
        worker: &WorkerId,
        lease: Duration,
    ) -> Result<Option<u64>, Error> {
        if self.taken.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
            return Err(Error::Unavailable("just now".into()));
        }
        self.work.take(job, worker, lease).await
    }

    async fn open_job(&self, tenant: &Tenant, list: &WorkList<'_>) -> Result<Job, Error> {
        self.work.open_job(tenant, list).await
    }

    async fn keep(&self, worker: &WorkerId, lease: Duration) -> Result<(), Error> {
        self.work.keep(worker, lease).await
    }

    async fn finish(&self, job: &Job, by: &WorkerId, chunk: u64, end: &str) -> Result<bool, Error> {
        self.work.finish(job, by, chunk, end).await
    }

    async fn leave(&self, job: &Job, by: &WorkerId, chunk: u64, so_far: &str) -> Result<(), Error> {
        self.work.leave(job, by, chunk, so_far).await
    }

    async fn status(&self, job: &Job) -> Result<JobStatus, Error> {
        self.work.status(job).await
    }

    async fn outcome(&self, job: &Job, chunk: u64) -> Result<Option<String>, Error> {
        self.work.outcome(job, chunk).await
    }

    async fn ask(
        &self,
        job: &Job,
        worker: &WorkerId,
        asking: &QuestionRequest,
    ) -> Result<Claim, Error> {
        self.work.ask(job, worker, asking).await
    }

    async fn answer(
        &self,
        job: &Job,
        key: &QuestionKey,
        answer: &str,
        cost: Usd,
    ) -> Result<String, Error> {
        self.work.answer(job, key, answer, cost).await
    }

    async fn unanswered(
        &self,
        job: &Job,
        worker: &WorkerId,
        key: &QuestionKey,
        cost: Usd,
    ) -> Result<(), Error> {
        self.work.unanswered(job, worker, key, cost).await
    }

    async fn answers(
        &self,
        job: &Job,
        keys: &[QuestionKey],
    ) -> Result<BTreeMap<QuestionKey, String>, Error> {
        self.work.answers(job, keys).await
    }

    async fn forget_work(&self, before: SystemTime) -> Result<(), Error> {
        self.work.forget_work(before).await
    }
}

#[test]
fn what_is_under_way_when_the_store_is_away_is_not_asked_again() {
    const CHARTS: u64 = 12;
    let world = World::new();
    let items: Vec<_> = (0..CHARTS)
        .map(|number| {
            let name = format!("{number}.png");
            world.write(&name, Chart::of(number).png().unwrap());
            asking(&name, QUESTION)
        })
        .collect();
    let mock = mock();
    let tools = tools(&world, vision_models(vec![model(&mock, Wire::OpenAiChat, "gpt-4o")]));
    let work = NowAndThen {
        work: Sqlite::open(world.outside().join("record")).unwrap(),
        taken: AtomicUsize::new(0),
    };
    wait(async {
        let list = WorkList { name: "charts", digest: [1; 32], items: CHARTS, chunk: 1 };
        let job = work.open_job(&Tenant::local(), &list).await.unwrap();
        // Dead workers are noticed soon.
        let lease = Duration::from_secs(1);
        let options = BatchOptions { at_once: 4, lease, ..BatchOptions::default() };
        let batch = Batch::new(&tools, &work, job, &items, options).unwrap();
        let told = Mutex::new(Vec::new());
        let tell = |progress: Progress| told.lock().unwrap().push((progress.done, progress.items));
        let ended = batch.run(std::future::pending(), &tell).await.unwrap();
        assert_eq!(ended, BatchEnd::Done);
        assert_eq!(told.into_inner().unwrap().last(), Some(&(CHARTS, CHARTS)));
        for chunk in 0..CHARTS {
            let lines = batch.lines(chunk).await.unwrap();
            let [LineOutcome::Answered(told)] = &lines[..] else { panic!("{lines:?}") };
            let words = Chart::of(chunk).words();
            assert!(told.answer.as_ref().is_some_and(|answer| answer.contains(&words)));
        }
    });
    assert!(work.taken.load(Ordering::Relaxed) > CHARTS as usize, "it was never away");
    assert_eq!(mock.journal().len(), CHARTS as usize, "every question was asked once");
}

/// Creates one chart and a job that asks this provider about it.
async fn one(world: &World, mock: &photic_mock::Mock) -> (Tools, Sqlite, Job) {
    world.write("chart.png", Chart::of(7).png().unwrap());
    let tools = tools(world, vision_models(vec![model(mock, Wire::OpenAiChat, "gpt-4o")]));
    let work = Sqlite::open(world.outside().join("record")).unwrap();
    let list = WorkList { name: "chart", digest: [1; 32], items: 1, chunk: 1 };
    let job = work.open_job(&Tenant::local(), &list).await.unwrap();
    (tools, work, job)
}

async fn moment() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[test]
fn who_waits_long_for_an_answer_keeps_its_chunk_and_who_is_gone_does_not() {
    let (world, mock) = (World::new(), misbehaving(Misbehavior::Hang));
    let items = [asking("chart.png", QUESTION)];
    wait(async {
        let (tools, work, job) = one(&world, &mock).await;
        // Not a multiple of the check interval: a lease that expired at that moment would be
        // renewed unnoticed.
        let lease = Duration::from_millis(3250);
        let options = BatchOptions { lease, ..BatchOptions::default() };
        let another = WorkerId::random().unwrap();
        {
            let batch = Batch::new(&tools, &work, job.clone(), &items, options).unwrap();
            let tries = async {
                // The first worker must have begun before.
                tokio::time::sleep(lease / 2).await;
                let until = Instant::now() + lease * 2;
                while Instant::now() < until {
                    let taken = work.take(&job, &another, lease).await.unwrap();
                    assert_eq!(taken, None, "it was taken from somebody who lives");
                    moment().await;
                }
            };
            tokio::select! {
                ended = batch.run(std::future::pending(), &|_| {}) => panic!("{ended:?}"),
                () = tries => {}
            }
        }
        let since = Instant::now();
        while work.take(&job, &another, lease).await.unwrap() != Some(0) {
            assert!(since.elapsed() < lease * 20, "nobody goes on with it");
            moment().await;
        }
    });
}

#[test]
fn what_broke_off_may_have_been_paid_for_and_what_was_turned_down_was_not() {
    let items = [asking("chart.png", QUESTION)];
    for (kind, is_paid) in
        [(Misbehavior::Cut, true), (Misbehavior::Close, true), (Misbehavior::ServerError, false)]
    {
        let (world, mock) = (World::new(), misbehaving(kind));
        wait(async {
            let (tools, work, job) = one(&world, &mock).await;
            let price = Some(TokenPrice { input: 2.5, output: 10.0 });
            let options = BatchOptions { price, attempts: 2, ..BatchOptions::default() };
            let batch = Batch::new(&tools, &work, job.clone(), &items, options).unwrap();
            let ended = batch.run(std::future::pending(), &|_| {}).await.unwrap();
            assert_eq!(ended, BatchEnd::Done);
            assert!(matches!(&batch.lines(0).await.unwrap()[..], [LineOutcome::Failed(_)]));
            let spent = work.status(&job).await.unwrap().spent;
            assert_eq!(spent != Usd::ZERO, is_paid, "{kind:?}: {spent:?}");
        });
    }
}
