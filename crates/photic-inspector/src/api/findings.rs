//! Findings of a session: pictures that the model could not see or read, what cost money, what was
//! repaired, and what was learned.

use std::collections::BTreeSet;
use std::sync::Arc;

use photic::profile::Fact;
use photic::{Code, Fate, Reason};
use photic_pixels::legibility::MIN_READABLE_X_HEIGHT;
use photic_store::SessionId;
use serde_json::{Value, json};

use super::index::{SessionIndex, TurnFacts};
use super::letters::is_shown;
use super::object::Object;
use super::why::unread;
use crate::failure::Failure;
use crate::inspector::Inspector;

/// Pictures of a session that are examined for small text: the latest.
const MAX_EXAMINED: usize = 64;
/// Pictures that are examined before a session is shown. Each may take a tenth of a second.
const MAX_EXAMINED_AT_ONCE: usize = 16;
/// Most findings that are listed.
const MAX_FINDINGS: usize = 400;

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    group: &'static str,
    severity: &'static str,
    code: String,
    title: String,
    text: String,
    next: Option<String>,
    from: u64,
    to: u64,
    pub(crate) picture: Option<u32>,
}

impl Finding {
    /// Returns `true` if it is a warning about a turn that belongs above its messages.
    pub(crate) fn warns_about(&self, turn: u64) -> bool {
        let is_loud = self.group == "blind" || self.code == "healed" || self.code == "failed";
        is_loud && self.from == turn
    }

    pub(crate) fn value(&self) -> Value {
        Object::new()
            .with("group", self.group)
            .with("severity", self.severity)
            .with("code", &self.code)
            .with("title", &self.title)
            .with("text", &self.text)
            .maybe("next", self.next.as_ref())
            .with("from", self.from)
            .with("to", self.to)
            .maybe("picture", self.picture)
            .value()
    }

    /// Returns the words for a search.
    pub(crate) fn words(&self) -> (&str, u64, Option<u32>) {
        (&self.title, self.from, self.picture)
    }
}

/// Returns the number of findings of each group.
pub(crate) fn counts(findings: &[Finding]) -> Value {
    let count = |group: &str| findings.iter().filter(|one| one.group == group).count();
    json!({"blind": count("blind"), "cost": count("cost"), "repaired": count("repaired"),
        "learned": count("learned")})
}

impl Inspector {
    /// Returns the findings of a session.
    pub(crate) async fn findings(&self, id: &SessionId) -> Result<Value, Failure> {
        let index = self.index(id).await?;
        let items: Vec<Value> =
            self.all_findings(id, &index).await?.iter().map(Finding::value).collect();
        Ok(json!({"items": items}))
    }

    /// Returns the findings in order of consequence.
    pub(crate) async fn all_findings(
        &self,
        id: &SessionId,
        index: &SessionIndex,
    ) -> Result<Vec<Finding>, Failure> {
        let latest = index.pictures.len().saturating_sub(MAX_EXAMINED);
        let pictures: Vec<u32> = index.pictures[latest..].iter().map(|one| one.number).collect();
        self.findings_with(id, index, &pictures).await
    }

    /// Returns the findings for the head of a session. The text of pictures is examined if there are
    /// few.
    pub(crate) async fn head_findings(
        &self,
        id: &SessionId,
        index: &SessionIndex,
    ) -> Result<Vec<Finding>, Failure> {
        if index.pictures.len() <= MAX_EXAMINED_AT_ONCE {
            return self.all_findings(id, index).await;
        }
        self.findings_with(id, index, &[]).await
    }

    /// Returns the findings in order of consequence, with those about small text of some pictures.
    pub(crate) async fn findings_with(
        &self,
        id: &SessionId,
        index: &SessionIndex,
        pictures: &[u32],
    ) -> Result<Vec<Finding>, Failure> {
        let mut found = hidden(index);
        found.extend(self.small_text(id, index, pictures).await?);
        found.extend(lost(index));
        found.extend(self.repaired(id, index).await?);
        found.extend(self.learned(id, index).await?);
        found.truncate(MAX_FINDINGS);
        Ok(found)
    }

    /// Returns pictures whose smallest text is below what models read.
    async fn small_text(
        &self,
        id: &SessionId,
        index: &SessionIndex,
        pictures: &[u32],
    ) -> Result<Vec<Finding>, Failure> {
        let Some(last) = index.turns.last() else { return Ok(Vec::new()) };
        let profile = self.profile(id, index).await?;
        let mut found = Vec::new();
        for picture in pictures.iter().filter_map(|number| index.picture(*number).ok()) {
            let (number, from) = (picture.number, picture.first_turn);
            let is_seen = index.turn(from).is_ok_and(|turn| is_shown(turn.letter(number)));
            let Some(profile) = profile.as_ref().filter(|_| is_seen) else { continue };
            let Some((width, height)) = picture.facts.size else { continue };
            let Some(letters) = self.letters(id, &picture.digest).await else { continue };
            let seen = profile.seen(width, height, None);
            let Some(height) = letters.in_width(seen.width) else { continue };
            if height >= MIN_READABLE_X_HEIGHT {
                continue;
            }
            let to = index.turns.iter().rev().find(|turn| is_shown(turn.letter(number)));
            found.push(Finding {
                group: "blind",
                severity: "warn",
                code: "small_text".to_owned(),
                title: format!("The text in #{number} is smaller than models read"),
                text: format!(
                    "As the provider resizes it, its smallest letters are {height:.1} px tall; models \
                     read from {MIN_READABLE_X_HEIGHT:.0} px. What the model says about it may be a guess."
                ),
                next: Some("Send the part that matters, or tiles: `photic view` cuts them.".to_owned()),
                from,
                to: to.unwrap_or(last).row.number,
                picture: Some(number),
            });
        }
        Ok(found)
    }

    /// Returns what was repaired: findings of the client's requests, and rejections that were healed.
    async fn repaired(
        &self,
        id: &SessionId,
        index: &SessionIndex,
    ) -> Result<Vec<Finding>, Failure> {
        let mut found = Vec::new();
        for turn in &index.turns {
            let number = turn.row.number;
            let attempts = turn.row.outcome.iter().flat_map(|outcome| &outcome.attempts);
            let rejected: Vec<_> =
                attempts.filter(|one| one.status.is_some_and(|status| status >= 400)).collect();
            let status = turn.row.outcome.as_ref().and_then(|outcome| outcome.status);
            let is_failed = status.is_some_and(|status| status >= 400);
            for one in rejected {
                let status = one.status.unwrap_or(0);
                let says = one.says.as_deref().unwrap_or("no reason");
                let (code, title) = if is_failed {
                    ("failed", format!("The provider refused turn {number} with {status}"))
                } else {
                    (
                        "healed",
                        format!(
                            "The provider refused turn {number} once, and took it when it was sent again"
                        ),
                    )
                };
                found.push(Finding {
                    group: if is_failed { "blind" } else { "repaired" },
                    severity: if is_failed { "bad" } else { "ok" },
                    code: code.to_owned(),
                    title,
                    text: format!("{status}: “{says}”"),
                    next: None,
                    from: number,
                    to: number,
                    picture: None,
                });
            }
        }
        // The last body holds the whole conversation.
        let Some(last) = index.turns.last().filter(|turn| turn.extras.is_some()) else {
            return Ok(found);
        };
        let planned = self.planned(id, last.row.number).await?;
        let mut seen: BTreeSet<(&str, Option<u32>)> = BTreeSet::new();
        for one in &planned.findings {
            let number = one.media.and_then(|id| last.numbers.get(id.index()).copied().flatten());
            if !seen.insert((one.code.name(), number)) || one.is_left_alone() {
                continue;
            }
            found.push(of_code(one.code, number, index, last));
        }
        Ok(found)
    }

    /// Returns what was learned about the endpoint, at the first turn that knew it.
    async fn learned(&self, id: &SessionId, index: &SessionIndex) -> Result<Vec<Finding>, Failure> {
        let Some(last) = index.turns.last() else { return Ok(Vec::new()) };
        let lessons = self.lessons(id, last.row.number).await?;
        let mut found = Vec::new();
        for lesson in &*lessons {
            let mut from = last.row.number;
            for turn in index.turns.iter().rev().filter(|turn| turn.extras.is_some()) {
                if !self.lessons(id, turn.row.number).await?.contains(lesson) {
                    break;
                }
                from = turn.row.number;
            }
            found.push(Finding {
                group: "learned",
                severity: "info",
                code: "lesson".to_owned(),
                title: format!("Learned {} of this endpoint", lesson.section),
                text: format!("{}: {}", lesson.fields.join(", "), lesson.source),
                next: None,
                from,
                to: last.row.number,
                picture: None,
            });
        }
        Ok(found)
    }
}

impl Inspector {
    /// Returns the lessons that were in force in a turn. Kept longer than the plan, which is large.
    async fn lessons(&self, id: &SessionId, number: u64) -> Result<Arc<Vec<Fact>>, Failure> {
        let key = format!("lessons/{id}/{number}");
        if let Some(found) = self.cache.get::<Vec<Fact>>(&key) {
            return Ok(found);
        }
        let lessons = self.planned(id, number).await?.turn.lessons()?;
        let weight = lessons.len() * 512;
        Ok(self.cache.put(key, lessons, weight))
    }
}

/// Returns a finding of a request, with the turn in which its picture came.
fn of_code(code: Code, number: Option<u32>, index: &SessionIndex, last: &TurnFacts) -> Finding {
    let came = number.and_then(|number| index.picture(number).ok());
    let name = number.map_or(String::new(), |number| format!("#{number}: "));
    Finding {
        group: "repaired",
        severity: "ok",
        code: code.name().to_owned(),
        title: format!("{name}{}", code.says()),
        text: "photic repaired it in what was sent.".to_owned(),
        next: Some(code.hint().to_owned()),
        from: came.map_or(last.row.number, |picture| picture.first_turn),
        to: last.row.number,
        picture: number,
    }
}

/// Returns pictures that were never shown although they came: refused or not readable.
fn hidden(index: &SessionIndex) -> Vec<Finding> {
    let mut found = Vec::new();
    for picture in &index.pictures {
        let number = picture.number;
        let Ok(turn) = index.turn(picture.first_turn) else { continue };
        if turn.letter(number) != 'f' {
            continue;
        }
        let media = turn.numbers.iter().position(|one| *one == Some(number));
        let fates = turn.row.fates.as_ref();
        let fate = media.zip(fates).and_then(|(media, fates)| fates.as_slice().get(media));
        let reason = match fate.map(|one| one.fate) {
            Some(Fate::Elide(reason) | Fate::Refuse(reason)) => reason,
            _ => Reason::Unreadable,
        };
        let to = index.turns.iter().rev().find(|turn| turn.letter(number) == 'f');
        found.push(Finding {
            group: "blind",
            severity: "bad",
            code: reason.name().to_owned(),
            title: format!("The model could not see #{number}"),
            text: format!("It was not shown: {}. The model read a notice instead.", reason.says()),
            next: Some("See `photic explain` for what this endpoint takes.".to_owned()),
            from: picture.first_turn,
            to: to.map_or(picture.first_turn, |turn| turn.row.number),
            picture: Some(number),
        });
    }
    found
}

/// Returns the turns in which the cache lost something.
fn lost(index: &SessionIndex) -> Vec<Finding> {
    let each = index.turns.iter().filter_map(|turn| {
        let previous = index.before(turn.row.number)?;
        let first = turn.first(Some(previous)).or_else(|| unread(previous, turn, None))?;
        let number = turn.row.number;
        let again = turn.tokens(Some(previous)).again.filter(|again| *again > 0);
        let again =
            again.map_or(String::new(), |again| format!(" {again} tokens were written again."));
        Some(Finding {
            group: "cost",
            severity: "warn",
            code: format!("cache_{}", first.why),
            title: format!("The cache could not be read to the end in turn {number}"),
            text: format!("{}.{again}", first.text),
            next: Some(format!("Compare turns {} and {number}.", previous.row.number)),
            from: number,
            to: number,
            picture: first.pictures.first().copied(),
        })
    });
    each.collect()
}
