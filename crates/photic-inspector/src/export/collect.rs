//! Collects the answers and pictures of a session for an exported file.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_store::SessionId;
use serde_json::{Map, Value, json};

use super::{ExportOptions, ExportedPictures};
use crate::api::index::SessionIndex;
use crate::api::messages::View;
use crate::failure::Failure;
use crate::images::Picture;
use crate::inspector::{Inspector, ServedBy};

/// Turns whose changes and comparisons are written: the latest of the range.
const MAX_COMPARED: u64 = 64;

/// Collects answers, texts that repeat, and pictures.
#[derive(Debug)]
pub(crate) struct Collector<'c> {
    inspector: &'c Inspector,
    id: &'c SessionId,
    options: ExportOptions,
    range: (u64, u64),
    pub(crate) answers: Vec<(String, Value)>,
    pub(crate) pool: Vec<Value>,
    pub(crate) blobs: Vec<String>,
    pub(crate) images: Map<String, Value>,
    /// Number of pictures that are in the file in any size.
    pub(crate) pictures: usize,
    known_texts: HashMap<String, usize>,
    known_blobs: HashMap<[u8; 32], usize>,
}

impl<'c> Collector<'c> {
    /// Begins the export of a session.
    pub(crate) async fn new(
        inspector: &'c Inspector,
        id: &'c SessionId,
        options: ExportOptions,
    ) -> Result<Self, Failure> {
        let last = inspector.index(id).await?.last();
        let range = options.turns.unwrap_or((1, last));
        let range = (range.0, range.1.min(last));
        if range.0 > last && last > 0 {
            return Err(Failure::not_found(&format!("turn {}", range.0)));
        }
        Ok(Self {
            inspector,
            id,
            options,
            range,
            answers: Vec::new(),
            pool: Vec::new(),
            blobs: Vec::new(),
            images: Map::new(),
            pictures: 0,
            known_texts: HashMap::new(),
            known_blobs: HashMap::new(),
        })
    }

    /// Collects everything.
    pub(crate) async fn collect(&mut self) -> Result<(), Failure> {
        let (inspector, id) = (self.inspector, self.id);
        let base = format!("/sessions/{id}");
        self.add("/about", Ok(inspector.about_as(ServedBy::File)));
        // First, so that the rows have all that is known about turns.
        for number in self.range.0..=self.range.1 {
            self.turn(number).await?;
        }
        let index = inspector.index(id).await?;
        let row = inspector.session_row(&index.row).await?.with("live", false).value();
        let totals = json!({"sessions": 1, "pictures": row["pictures"], "bytes": row["bytes"],
            "tokens": row["tokens"], "unpriced": row["unpriced"]});
        self.add("/sessions", Ok(json!({"items": [row], "totals": totals})));
        let mut session = inspector.session(id).await?;
        session["live"] = json!(false);
        self.add(&base, Ok(session));
        let rows = inspector.rows(id, self.range.0).await?;
        let rows: Vec<Value> = rows
            .into_iter()
            .filter(|row| row["n"].as_u64().is_some_and(|number| number <= self.range.1))
            .collect();
        let most = rows.iter().filter_map(|row| {
            row["tokens"]["input"].as_u64().or_else(|| row["tokens"]["expected"].as_u64())
        });
        let most = most.max().unwrap_or(0);
        let page = json!({"items": rows, "total": index.last(), "max_tokens": most});
        self.add(&format!("{base}/turns"), Ok(page));
        // Later turns than those asked for are not in the file, nor are words from them.
        let to = self.range.1;
        let is_known = |one: &Value| {
            let number = one["picture"].as_u64().and_then(|number| u32::try_from(number).ok());
            let picture = number.and_then(|number| index.picture(number).ok());
            picture.is_some_and(|picture| picture.first_turn <= to)
        };
        let cost = inspector.cost(id).await;
        self.add(&format!("{base}/cost"), cost.map(|cost| only(cost, "pictures", is_known)));
        let is_near = |one: &Value| one["from"].as_u64().is_some_and(|from| from <= to);
        let findings = inspector.findings(id).await;
        self.add(&format!("{base}/findings"), findings.map(|all| only(all, "items", is_near)));
        self.all_pictures(&base).await
    }

    /// Adds an answer, or the failure in its place.
    fn add(&mut self, address: &str, answer: Result<Value, Failure>) {
        let mut value = match answer {
            Ok(value) => value,
            Err(failure) => serde_json::from_slice(&failure.body()).unwrap_or_default(),
        };
        strip(&mut value);
        self.answers.push((address.to_owned(), value));
    }

    /// Adds an answer whose items repeat in others.
    fn add_pooled(&mut self, address: &str, answer: Result<Value, Failure>) {
        let answer = answer.map(|mut value| {
            strip(&mut value);
            let items = value.get_mut("items").and_then(Value::as_array_mut);
            for item in items.into_iter().flatten() {
                let key = item.to_string();
                let next = self.pool.len();
                let at = *self.known_texts.entry(key).or_insert(next);
                if at == next {
                    self.pool.push(item.clone());
                }
                *item = json!({"$": at});
            }
            value
        });
        self.add(address, answer);
    }

    async fn turn(&mut self, number: u64) -> Result<(), Failure> {
        let (inspector, id) = (self.inspector, self.id);
        let base = format!("/sessions/{id}/turns/{number}");
        let mut turn = inspector.turn(id, number).await?;
        // The name of the client's software is a header of the request.
        if let Some(request) = turn.get_mut("request").and_then(Value::as_object_mut) {
            request.remove("agent");
        }
        let has_reply = turn["has_reply"] == json!(true);
        self.add(&base, Ok(turn));
        let all = (0, usize::MAX);
        for (side, view) in
            [("model", View::Model), ("client", View::Client), ("reply", View::Reply)]
        {
            if view == View::Reply && !has_reply {
                continue;
            }
            let page = inspector.message_page(id, number, view, all, false).await;
            self.add_pooled(&format!("{base}/messages?side={side}"), page);
        }
        if number + MAX_COMPARED <= self.range.1 {
            return Ok(());
        }
        let changes = inspector.change_page(id, number, all).await;
        self.add_pooled(&format!("{base}/changes"), changes);
        if number < self.range.1 {
            let compared = inspector.comparison(id, number, number + 1).await;
            self.add(&format!("/sessions/{id}/compare?a={number}&b={}", number + 1), compared);
        }
        Ok(())
    }

    async fn all_pictures(&mut self, base: &str) -> Result<(), Failure> {
        let (inspector, id) = (self.inspector, self.id);
        let index = inspector.index(id).await?;
        let (from, to) = self.range;
        let in_range = |number: u32| {
            index
                .turns
                .iter()
                .any(|turn| (from..=to).contains(&turn.row.number) && turn.letter(number) != '.')
        };
        let numbers: Vec<u32> =
            index.pictures.iter().map(|one| one.number).filter(|one| in_range(*one)).collect();
        let mut rows = Vec::new();
        for &number in &numbers {
            let mut picture = inspector.picture(id, number, Some(to)).await?;
            if let Some(members) = picture.as_object_mut() {
                members.remove("handle");
            }
            let names = [
                "picture",
                "digest",
                "turn",
                "label",
                "tool",
                "media",
                "media_type",
                "size",
                "bytes",
                "letter",
                "tokens",
            ];
            let row = names
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), picture.get(*name)?.clone())));
            rows.push(Value::Object(row.collect()));
            self.add(&format!("{base}/pictures/{number}"), Ok(picture));
        }
        let page = json!({"items": rows, "total": index.pictures.len(), "turn": to});
        self.add(&format!("{base}/pictures"), Ok(page));
        if self.options.pictures == ExportedPictures::None {
            return Ok(());
        }
        for &number in &numbers {
            self.picture(&index, base, number).await;
        }
        if self.options.pictures != ExportedPictures::Small {
            self.sent_pictures(&index, base, &numbers).await;
        }
        Ok(())
    }

    /// Adds the thumbnail of a picture, and the original if it is wanted.
    async fn picture(&mut self, index: &SessionIndex, base: &str, number: u32) {
        let (inspector, id) = (self.inspector, self.id);
        let Ok(digest) = index.picture(number).map(|picture| picture.digest) else { return };
        let base = format!("{base}/pictures/{number}");
        // What is gone, or no picture, is not in the file.
        if let Ok(thumb) = inspector.thumb(id, &digest).await {
            self.pictures += 1;
            self.image(format!("{base}/thumb"), &thumb);
        }
        if self.options.pictures == ExportedPictures::All
            && let Ok(original) = inspector.checked(id, &digest).await
        {
            self.image(format!("{base}/original"), &original);
        }
    }

    /// Adds pictures as they were sent: in a short range those of each turn, else those of the turns
    /// in which they changed. A page looks back from a turn that has none.
    async fn sent_pictures(&mut self, index: &SessionIndex, base: &str, numbers: &[u32]) {
        let (inspector, id) = (self.inspector, self.id);
        let (from, to) = self.range;
        let is_short = to.saturating_sub(from) < MAX_COMPARED;
        let mut known: HashMap<[u8; 32], usize> = HashMap::new();
        let mut latest: HashMap<u32, usize> = HashMap::new();
        for turn in from..=to {
            for &number in numbers {
                let Ok((sent, _)) = inspector.sent_of(index, number, turn).await else { continue };
                let at = if let Some(at) = known.get(&sent) {
                    *at
                } else {
                    let Ok(picture) = inspector.checked(id, &sent).await else { continue };
                    let at = self.bytes_of(&picture);
                    known.insert(sent, at);
                    at
                };
                let is_new = latest.insert(number, at) != Some(at);
                if is_short || is_new {
                    let address = format!("{base}/pictures/{number}/sent?turn={turn}");
                    self.images.insert(address, json!(at));
                }
            }
        }
    }

    fn image(&mut self, address: String, picture: &Picture) {
        let at = self.bytes_of(picture);
        self.images.insert(address, json!(at));
    }

    /// Adds the bytes of a picture once, and returns their place.
    fn bytes_of(&mut self, picture: &Picture) -> usize {
        let next = self.blobs.len();
        let at = *self.known_blobs.entry(*blake3::hash(&picture.bytes).as_bytes()).or_insert(next);
        if at == next {
            let base64 = STANDARD.encode(&picture.bytes);
            self.blobs.push(format!("data:{};base64,{base64}", picture.media_type));
        }
        at
    }
}

/// Keeps only some items of a list of an answer.
fn only(mut answer: Value, list: &str, keep: impl Fn(&Value) -> bool) -> Value {
    if let Some(items) = answer.get_mut(list).and_then(Value::as_array_mut) {
        items.retain(keep);
    }
    answer
}

/// Removes addresses of a server and of further pages: there is neither.
fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(members) => {
            members.remove("href");
            if members.contains_key("items") {
                members.remove("next");
            }
            members.values_mut().for_each(strip);
        }
        _ => {}
    }
}
