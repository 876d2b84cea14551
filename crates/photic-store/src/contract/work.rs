//! Contract of work lists and answers.

use std::time::{Duration, SystemTime};

use super::{ContractViolation, promise};
use crate::error::Error;
use crate::handle::Tenant;
use crate::work::{Claim, Job, JobStatus, QuestionRequest, Usd, WorkList, WorkStore, WorkerId};

/// Longer than any test.
const LONG: Duration = Duration::from_hours(1);
/// Lease of a worker that counts as dead.
const DEAD: Duration = Duration::ZERO;

/// Exercises a store without work lists. Deletes all of them at the end.
pub async fn work<W: WorkStore>(work: &W) -> Result<(), ContractViolation> {
    chunks(work).await?;
    anew(work).await?;
    questions(work).await?;
    money(work).await?;
    dead_money(work).await?;
    forgetting(work).await
}

fn list(name: &str, items: u64) -> WorkList<'_> {
    WorkList { name, digest: [7; 32], items, chunk: 10 }
}

fn ours() -> Tenant {
    Tenant::new("contract-work")
}

const fn asking(key: u8) -> QuestionRequest {
    QuestionRequest { key: [key; 32], estimate: Usd::ZERO, cap: None, lease: LONG }
}

async fn chunks<W: WorkStore>(work: &W) -> Result<(), ContractViolation> {
    let (one, two) = (WorkerId::random()?, WorkerId::random()?);
    let job = work.open_job(&ours(), &list("chunks", 25)).await?;
    promise("a job has as many chunks as it takes", job.chunks() == 3)?;
    let again = WorkList { chunk: 5, ..list("chunks", 25) };
    promise("who comes second joins", work.open_job(&ours(), &again).await? == job)?;
    let other = WorkList { digest: [8; 32], ..list("chunks", 25) };
    let refused = work.open_job(&ours(), &other).await;
    promise("a name is one list", matches!(refused, Err(Error::OtherJob(_))))?;
    let theirs = work.open_job(&Tenant::new("contract-others"), &other).await?;
    promise("and another tenant's is another", theirs.id != job.id)?;

    promise("chunks go in order", work.take(&job, &one, LONG).await? == Some(0))?;
    promise("to one worker each", work.take(&job, &two, DEAD).await? == Some(1))?;
    promise("a worker that died loses its own", work.take(&job, &one, LONG).await? == Some(1))?;
    promise("others do not", work.take(&job, &one, LONG).await? == Some(2))?;
    promise("all are taken", work.take(&job, &two, LONG).await?.is_none())?;
    let late = work.finish(&job, &two, 1, "late").await?;
    promise("who lost it does not end it", !late && work.outcome(&job, 1).await?.is_none())?;
    promise("who has it does", work.finish(&job, &one, 1, "well").await?)?;
    promise("once", !work.finish(&job, &one, 1, "again").await?)?;
    promise("with its words", work.outcome(&job, 1).await?.as_deref() == Some("well"))?;
    work.leave(&job, &two, 0, "not mine").await?;
    work.leave(&job, &one, 0, "half").await?;
    promise("what is left is there", work.outcome(&job, 0).await?.as_deref() == Some("half"))?;
    let standing = work.status(&job).await?;
    promise("a job says how far it is", (standing.done, standing.taken) == (1, 1))?;
    promise("what is left is taken again", work.take(&job, &two, DEAD).await? == Some(0))?;
    work.keep(&two, LONG).await?;
    promise("what is kept is not", work.take(&job, &one, LONG).await?.is_none())
}

async fn anew<W: WorkStore>(work: &W) -> Result<(), ContractViolation> {
    let worker = WorkerId::random()?;
    let job = work.open_job(&ours(), &list("anew", 20)).await?;
    for chunk in 0..2 {
        promise("it is taken", work.take(&job, &worker, LONG).await? == Some(chunk))?;
        work.finish(&job, &worker, chunk, "first").await?;
        work.open_job(&ours(), &list("anew", 20)).await?;
    }
    promise("what is done begins anew", work.status(&job).await?.done == 0)?;
    let kept = work.outcome(&job, 0).await?;
    promise("and keeps its words meanwhile", kept.as_deref() == Some("first"))?;
    promise("it is taken again", work.take(&job, &worker, LONG).await? == Some(0))
}

async fn questions<W: WorkStore>(work: &W) -> Result<(), ContractViolation> {
    let (one, two) = (WorkerId::random()?, WorkerId::random()?);
    let job = work.open_job(&ours(), &list("questions", 1)).await?;
    let other = work.open_job(&ours(), &list("more questions", 1)).await?;
    let theirs = work.open_job(&Tenant::new("contract-others"), &list("questions", 1)).await?;
    promise("a question is asked", work.ask(&job, &one, &asking(1)).await? == Claim::Ask)?;
    for (job, worker) in [(&job, &one), (&job, &two), (&other, &two)] {
        let may = work.ask(job, worker, &asking(1)).await?;
        promise("once at a time", may == Claim::Elsewhere)?;
    }
    promise("by each tenant", work.ask(&theirs, &two, &asking(1)).await? == Claim::Ask)?;
    work.unanswered(&job, &two, &[1; 32], Usd::ZERO).await?;
    let may = work.ask(&job, &two, &asking(1)).await?;
    promise("nobody gives up for another", may == Claim::Elsewhere)?;
    work.unanswered(&job, &one, &[1; 32], Usd::ZERO).await?;
    let may = work.ask(&job, &two, &QuestionRequest { lease: DEAD, ..asking(1) }).await?;
    promise("without an answer it is asked again", may == Claim::Ask)?;
    let may = work.ask(&other, &one, &asking(1)).await?;
    promise("and if its worker died", may == Claim::Ask)?;
    promise(
        "an answer is kept",
        work.answer(&other, &[1; 32], "blue", Usd::ZERO).await? == "blue",
    )?;
    let late = work.answer(&job, &[1; 32], "green", Usd::ZERO).await?;
    promise("the first of them", late == "blue")?;
    for job in [&job, &other] {
        let may = work.ask(job, &one, &asking(1)).await?;
        promise("for every job", may == Claim::Known("blue".to_owned()))?;
        let known = work.answers(job, &[[1; 32], [2; 32]]).await?;
        let one = known.len() == 1 && known.get(&[1; 32]).is_some_and(|text| text == "blue");
        promise("answers are found together", one)?;
    }
    let known = work.answers(&theirs, &[[1; 32]]).await?;
    promise("what one tenant was told no other is", known.is_empty())?;
    let told = work.answer(&theirs, &[3; 32], "unasked", Usd::ZERO).await?;
    promise("an answer stays whose question was given up", told == "unasked")
}

async fn money<W: WorkStore>(work: &W) -> Result<(), ContractViolation> {
    let worker = WorkerId::random()?;
    let job = work.open_job(&ours(), &list("money", 1)).await?;
    let dear = |key| QuestionRequest {
        estimate: Usd::dollars(0.4),
        cap: Some(Usd::dollars(1.0)),
        ..asking(key)
    };
    let spent = async || Ok::<_, Error>(work.status(&job).await?.spent);
    for key in [11, 12] {
        promise("there is money", work.ask(&job, &worker, &dear(key)).await? == Claim::Ask)?;
    }
    promise("what is under way counts", spent().await? == Usd::dollars(0.8))?;
    promise("and no more is spent", work.ask(&job, &worker, &dear(13)).await? == Claim::Over)?;
    work.answer(&job, &[11; 32], "cheap", Usd::dollars(0.1)).await?;
    promise("what it cost counts", spent().await? == Usd::dollars(0.5))?;
    promise("so there is some left", work.ask(&job, &worker, &dear(13)).await? == Claim::Ask)?;
    work.unanswered(&job, &worker, &[12; 32], Usd::ZERO).await?;
    work.unanswered(&job, &worker, &[13; 32], Usd::dollars(0.3)).await?;
    promise("nothing came, it cost", spent().await? == Usd::dollars(0.4))
}

async fn dead_money<W: WorkStore>(work: &W) -> Result<(), ContractViolation> {
    let (one, two) = (WorkerId::random()?, WorkerId::random()?);
    let job = work.open_job(&ours(), &list("dead money", 1)).await?;
    let dying = QuestionRequest { estimate: Usd::dollars(0.4), lease: DEAD, ..asking(21) };
    promise("it is asked", work.ask(&job, &one, &dying).await? == Claim::Ask)?;
    let spent = work.status(&job).await?.spent;
    promise("what the dead asked counts", spent == Usd::dollars(0.4))?;
    let again = QuestionRequest { cap: Some(Usd::dollars(0.7)), lease: LONG, ..dying };
    promise("also if it is asked again", work.ask(&job, &two, &again).await? == Claim::Over)?;
    let again = QuestionRequest { cap: Some(Usd::dollars(0.8)), ..again };
    promise("which takes as much again", work.ask(&job, &two, &again).await? == Claim::Ask)?;
    work.answer(&job, &[21; 32], "late", Usd::dollars(0.2)).await?;
    promise("both count", work.status(&job).await?.spent == Usd::dollars(0.6))
}

async fn forgetting<W: WorkStore>(work: &W) -> Result<(), ContractViolation> {
    let job: Job = work.open_job(&ours(), &list("questions", 1)).await?;
    work.forget_work(SystemTime::UNIX_EPOCH).await?;
    promise("what is new stays", work.answers(&job, &[[1; 32]]).await?.len() == 1)?;
    work.forget_work(SystemTime::now() + LONG).await?;
    promise("what is old goes", work.answers(&job, &[[1; 32]]).await?.is_empty())?;
    promise("with its chunks", work.outcome(&job, 0).await?.is_none())?;
    let other = WorkList { digest: [9; 32], ..list("chunks", 25) };
    let other = work.open_job(&ours(), &other).await?;
    promise("and its name is free", work.status(&other).await? == JobStatus::default())
}
