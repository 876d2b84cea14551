//! A conversation: its history, and its next turn, which is retried until it is answered.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderName};
use photic::Wire;
use photic_testkit::SplitMix64;

use super::picture::{ChartSet, Picture};
use super::wire::{self, PicturePosition, SentPicture};
use super::{LastRequest, Load, Origin, Report};
use crate::connection::{AgentRequest, Answer, Connection};
use crate::journal::{Journal, Line, Turn};
use crate::tenants::Tenant;

/// Transport of a session's pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PictureTransport {
    /// All of them with every request.
    Resend,
    /// Uploaded once, then by reference.
    Upload,
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Session {
    number: u32,
    turn: u32,
    tenant: Tenant,
    wire: Wire,
    place: PicturePosition,
    manner: PictureTransport,
    every: u32,
    patience: Duration,
    /// Its messages, separated by commas.
    history: String,
    /// The content of the latest picture.
    latest: String,
    last: Option<AgentRequest>,
    random: SplitMix64,
}

impl Session {
    pub(super) fn new(number: u32, load: &Load) -> Self {
        let mut random = SplitMix64::of_pair(0x5e55_1011, number.into());
        let tenant = load.tenants[number as usize % load.tenants.len()].clone();
        let wire = load.wires[random.below(load.wires.len())];
        let by_tool = random.below(4) > 0 || load.origin == Origin::Tools;
        let by_tool = by_tool && wire::has_tool_pictures(wire);
        let place = if by_tool { PicturePosition::Tool } else { PicturePosition::User };
        let uploads = random.below(100) < load.uploading as usize;
        let manner = if uploads { PictureTransport::Upload } else { PictureTransport::Resend };
        Self {
            number,
            turn: 0,
            tenant,
            wire,
            place,
            manner,
            every: load.every.max(1),
            patience: load.patience,
            history: String::new(),
            latest: String::new(),
            last: None,
            random,
        }
    }

    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// Returns its last request, if it had one.
    pub(super) fn into_last(self) -> Option<LastRequest> {
        Some(LastRequest { session: self.number, tenant: self.tenant.name, ask: self.last? })
    }

    /// Runs the next turn: sends, checks and journals it.
    pub(super) async fn turn(
        &mut self,
        connection: &mut Connection,
        album: &ChartSet,
        journal: &Journal,
        report: &mut Report,
    ) -> anyhow::Result<()> {
        let picture =
            self.turn.is_multiple_of(self.every).then(|| album.picture(self.number, self.turn));
        let sent = match &picture {
            None => None,
            Some(picture) => Some(self.show(picture, connection, journal, report).await?),
        };
        if let Some(Picture { words, .. }) = &picture {
            self.latest.clone_from(words);
        }
        let ask = format!("Session {}, step {}: go on.", self.number, self.turn);
        self.add(&wire::step(self.wire, self.place, self.turn, &ask, sent.as_ref()));

        let body = Bytes::from(wire::body(self.wire, &self.history));
        let mut headers = wire::headers(self.wire, &self.tenant.provider_key);
        headers.push((CONTENT_TYPE, "application/json".to_owned()));
        headers.extend(self.key());
        let ask = AgentRequest { method: Method::POST, path: wire::path(self.wire), headers, body };
        let answer = self.insist(ask.clone(), connection, journal, report).await?;
        let said = wire::words(self.wire, &answer.body).context("the answer has no words")?;
        if !said.ends_with(&self.latest) {
            bail!("turn {}: the answer does not name {}: {said}", self.turn, self.latest);
        }
        self.add(&wire::said(self.wire, &said));

        report.turns += 1;
        let acknowledged = answer.header("x-photic-turn").map(str::to_owned);
        let promises = if acknowledged.is_some() {
            &mut report.acknowledged
        } else {
            &mut report.unacknowledged
        };
        *promises += 1;
        journal.write(&Line::Turn(Turn {
            tenant: self.tenant.name.clone(),
            session: self.number,
            turn: self.turn,
            acknowledged,
            upstream: answer.header("x-mock-body").unwrap_or_default().to_owned(),
            picture: picture.map(|picture| name(&picture.png)),
        }))?;
        self.turn += 1;
        self.last = Some(ask);
        Ok(())
    }

    fn add(&mut self, message: &str) {
        if !self.history.is_empty() {
            self.history.push(',');
        }
        self.history.push_str(message);
    }

    fn key(&self) -> Option<(HeaderName, String)> {
        Some((HeaderName::from_static("x-photic-key"), self.tenant.key.clone()?))
    }

    /// Sends a picture in the manner of this session.
    async fn show(
        &mut self,
        picture: &Picture,
        connection: &mut Connection,
        journal: &Journal,
        report: &mut Report,
    ) -> anyhow::Result<SentPicture> {
        if self.manner == PictureTransport::Resend {
            return Ok(SentPicture::Inline(STANDARD.encode(&picture.png)));
        }
        let mut headers = vec![(CONTENT_TYPE, "image/png".to_owned())];
        headers.extend(self.key());
        let body = Bytes::from(picture.png.clone());
        let path = "/photic/v1/media".to_owned();
        let ask = AgentRequest { method: Method::POST, path, headers, body };
        let answer = self.insist(ask, connection, journal, report).await?;
        let taken: serde_json::Value = serde_json::from_slice(&answer.body)?;
        let reference = taken["ref"].as_str().context("an upload got no name")?.to_owned();
        report.uploads += 1;
        let address = format!("photic:{reference}");
        let tenant = self.tenant.name.clone();
        journal.write(&Line::Upload { tenant, reference, picture: name(&picture.png) })?;
        Ok(SentPicture::Address(address))
    }

    /// Sends a request until it succeeds, like the client of a provider: temporary failures are
    /// retried with growing pauses.
    async fn insist(
        &mut self,
        ask: AgentRequest,
        connection: &mut Connection,
        journal: &Journal,
        report: &mut Report,
    ) -> anyhow::Result<Answer> {
        let begun = Instant::now();
        let mut wait = Duration::from_millis(50);
        loop {
            report.bytes += ask.body.len() as u64;
            let why = match connection.send(ask.clone()).await {
                Ok(answer) if (200..300).contains(&answer.status) => return Ok(answer),
                Ok(Answer { status, body, .. }) => {
                    let says = String::from_utf8_lossy(&body).into_owned();
                    let tenant = self.tenant.name.clone();
                    journal.write(&Line::Failure { tenant, status, says: says.clone() })?;
                    if !matches!(status, 429 | 502 | 503 | 504) {
                        bail!("turn {}: {} answered {status}: {says}", self.turn, ask.path);
                    }
                    format!("{status}: {says}")
                }
                Err(no) => format!("{no:?}"),
            };
            if begun.elapsed() > self.patience {
                bail!("turn {}: given up on {}: {why}", self.turn, ask.path);
            }
            report.retries += 1;
            let jitter = Duration::from_millis(self.random.below(50) as u64);
            tokio::time::sleep(wait + jitter).await;
            wait = (wait * 2).min(Duration::from_secs(1));
        }
    }
}

/// Returns the name of a picture in the journal.
fn name(png: &[u8]) -> String {
    blake3::hash(png).to_hex().to_string()
}
