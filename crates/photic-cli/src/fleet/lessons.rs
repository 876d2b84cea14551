//! `photic fleet lessons`.

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use photic_fleet::Fleet;
use photic_gateway::learned::{self, Entry, Identity};
use serde_json::json;

use super::print;
use crate::arguments::LessonOptions;
use crate::style::{DIM, GREEN, Hint, counted};

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

pub(super) async fn run(
    fleet: &Fleet,
    options: &LessonOptions,
    days: u32,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let LessonOptions { host, model, teacher, all, forget } = options;
    let teacher: Option<Identity> = teacher
        .as_deref()
        .map(str::parse)
        .transpose()
        .context(Hint("`photic fleet lessons` names the teachers"))?;
    let is_meant = |entry: &Entry| {
        host.as_ref().is_none_or(|host| *host == entry.host)
            && model.as_ref().is_none_or(|model| *model == entry.model)
            && teacher.as_ref().is_none_or(|teacher| *teacher == entry.teacher)
    };
    if *forget {
        if host.is_none() && model.is_none() && teacher.is_none() && !all {
            return Err(anyhow!("what is to be forgotten is not said")
                .context(Hint("name it with `--host`, `--model` or `--teacher`, or say `--all`")));
        }
        let gone = photic_gateway::fleet::forget_shared(&fleet.record, is_meant).await?;
        print(&if json {
            json!({ "forgotten": gone }).to_string()
        } else {
            format!("{} forgotten; gateways follow within seconds", counted(gone, "lesson"))
        })?;
        return Ok(if gone > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
    let mut entries = photic_gateway::fleet::read_shared(&fleet.record).await?;
    entries.retain(is_meant);
    let until = |entry: &Entry| entry.evidence.at + u64::from(days) * DAY;
    if json {
        let entries = entries.iter().map(|entry| {
            let mut value = serde_json::to_value(entry).unwrap_or_default();
            value["until"] = json!(until(entry));
            value
        });
        return print(&json!({ "lessons": entries.collect::<Vec<_>>() }).to_string());
    }
    list(&mut entries, until);
    Ok(ExitCode::SUCCESS)
}

/// Tells lessons by endpoint, each with everybody who was taught it.
fn list(entries: &mut [Entry], until: impl Fn(&Entry) -> u64) {
    if entries.is_empty() {
        anstream::println!("nothing was learned");
    }
    let key = |entry: &Entry| {
        (entry.host.clone(), entry.model.clone(), entry.lesson.clone(), entry.teacher.clone())
    };
    entries.sort_by_key(key);
    let mut endpoint = ("", "");
    for same in entries.chunk_by(is_alike) {
        let Some(first) = same.first() else { continue };
        if endpoint != (first.host.as_str(), first.model.as_str()) {
            endpoint = (&first.host, &first.model);
            let model = if first.model.is_empty() { "any model" } else { &first.model };
            anstream::println!("{GREEN}learned{GREEN:#} from {} about {model}", first.host);
        }
        let on = first.wire.map(|wire| format!(" on {wire}")).unwrap_or_default();
        anstream::println!("  {}{on}", first.lesson);
        for entry in same {
            let (since, source) = (entry.evidence.day(), entry.evidence.source());
            let end = learned::Evidence::probed(until(entry), "").day();
            anstream::println!(
                "    {DIM}taught to {}, {since} until {end}, {source}{DIM:#}",
                entry.teacher
            );
        }
    }
}

fn is_alike(one: &Entry, other: &Entry) -> bool {
    let is_there = one.host == other.host && one.model == other.model && one.wire == other.wire;
    is_there && one.lesson == other.lesson
}
