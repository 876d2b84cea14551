//! A list, and a store that is away now and then.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use photic::Wire;
use photic_mock::Chart;
use photic_store::work::{Asking, Job, List, May, QuestionKey, Standing, Usd, Worker};
use photic_store::{Error, Sqlite, Tenant, Work};
use photic_tools::{Batch, BatchOptions, Ended, Line};

use crate::asking::{QUESTION, eyes, mock, model, tools};
use crate::world::{World, asking, wait};

/// Work whose store is away every third time that a chunk is taken.
struct NowAndThen {
    work: Sqlite,
    taken: AtomicUsize,
}

impl Work for NowAndThen {
    async fn take(
        &self,
        job: &Job,
        worker: &Worker,
        lease: Duration,
    ) -> Result<Option<u64>, Error> {
        if self.taken.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
            return Err(Error::Away("just now".into()));
        }
        self.work.take(job, worker, lease).await
    }

    async fn open_job(&self, tenant: &Tenant, list: &List<'_>) -> Result<Job, Error> {
        self.work.open_job(tenant, list).await
    }

    async fn keep(&self, worker: &Worker, lease: Duration) -> Result<(), Error> {
        self.work.keep(worker, lease).await
    }

    async fn finish(&self, job: &Job, by: &Worker, chunk: u64, end: &str) -> Result<bool, Error> {
        self.work.finish(job, by, chunk, end).await
    }

    async fn leave(&self, job: &Job, by: &Worker, chunk: u64, so_far: &str) -> Result<(), Error> {
        self.work.leave(job, by, chunk, so_far).await
    }

    async fn standing(&self, job: &Job) -> Result<Standing, Error> {
        self.work.standing(job).await
    }

    async fn outcome(&self, job: &Job, chunk: u64) -> Result<Option<String>, Error> {
        self.work.outcome(job, chunk).await
    }

    async fn ask(&self, job: &Job, worker: &Worker, asking: &Asking) -> Result<May, Error> {
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
        worker: &Worker,
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
    let tools = tools(&world, eyes(vec![model(&mock, Wire::OpenAiChat, "gpt-4o")]));
    let work = NowAndThen {
        work: Sqlite::open(world.outside().join("record")).unwrap(),
        taken: AtomicUsize::new(0),
    };
    wait(async {
        let list = List { name: "charts", digest: [1; 32], items: CHARTS, chunk: 1 };
        let job = work.open_job(&Tenant::local(), &list).await.unwrap();
        // Who dies is noticed soon.
        let lease = Duration::from_secs(1);
        let options = BatchOptions { at_once: 4, lease, ..BatchOptions::default() };
        let batch = Batch::new(&tools, &work, job, &items, options).unwrap();
        let ended = batch.run(std::future::pending(), &|_| {}).await.unwrap();
        assert_eq!(ended, Ended::Done);
        for chunk in 0..CHARTS {
            let lines = batch.lines(chunk).await.unwrap();
            let [Line::Told(told)] = &lines[..] else { panic!("{lines:?}") };
            let words = Chart::of(chunk).words();
            assert!(told.answer.as_ref().is_some_and(|answer| answer.contains(&words)));
        }
    });
    assert!(work.taken.load(Ordering::Relaxed) > CHARTS as usize, "it was never away");
    assert_eq!(mock.journal().len(), CHARTS as usize, "every question was asked once");
}
