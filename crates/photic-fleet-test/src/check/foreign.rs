//! Nobody sees another tenant's media: a reference that is somebody else's is answered exactly as
//! one that never was, whatever is done with it.

use std::net::SocketAddr;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderName};
use photic_testkit::SplitMix64;

use super::Findings;
use crate::door::{Answer, Ask, Door, NoAnswer};
use crate::journal::Line;
use crate::tenants::Tenant;

/// What may differ between two answers that say the same.
const OWN: [&str; 4] = ["date", "x-photic-request-id", "x-photic-turn", "x-request-id"];
/// On replies of a model: what it was sent.
const SENT: &str = "x-mock-body";
/// How many references everything is tried with.
const THOROUGH: usize = 12;

/// How many strangers there are at once.
const LANES: usize = 8;

/// Asks for every reference with its owner's key and with another tenant's: everything that can be
/// asked about the first of them, by every tenant, and whether they can be read about the others.
pub async fn foreign(door: SocketAddr, tenants: &[Tenant], lines: &[Line]) -> Findings {
    let uploads = lines.iter().filter_map(|line| match line {
        Line::Upload { tenant, reference, picture } => Some((tenant, reference, picture)),
        Line::Turn(_) | Line::Failure { .. } => None,
    });
    let uploads: Vec<_> = uploads.enumerate().collect();
    let lane = |number: usize| {
        let mut stranger = Stranger { door: Door::to(door), findings: Findings::default() };
        let uploads = &uploads;
        async move {
            for (place, (owner, reference, picture)) in uploads.iter().skip(number).step_by(LANES) {
                stranger.ask_about(tenants, *place, (owner, reference, picture)).await;
            }
            stranger.findings
        }
    };
    let mut findings = Findings::default();
    for found in futures_util::future::join_all((0..LANES).map(lane)).await {
        findings.add(found);
    }
    findings
}

/// Somebody who asks for what is not theirs.
struct Stranger {
    door: Door,
    findings: Findings,
}

impl Stranger {
    /// Asks about a reference, as everybody who may not, and then as whoever may.
    async fn ask_about(
        &mut self,
        tenants: &[Tenant],
        place: usize,
        (owner, reference, picture): (&str, &str, &str),
    ) {
        let others: Vec<&Tenant> = tenants.iter().filter(|one| one.name != *owner).collect();
        let random = random(reference, place as u64);
        if place < THOROUGH {
            for (ask, other) in every(reference).iter().zip(&every(&random)) {
                for tenant in &others {
                    self.compare(tenant, ask, other).await;
                }
            }
        } else if let Some(tenant) = others.get(place % others.len().max(1)) {
            self.compare(tenant, &content(reference), &content(&random)).await;
        }
        // After the others had their way with it, also by removing it.
        if let Some(owner) = tenants.iter().find(|tenant| tenant.name == *owner) {
            self.own(owner, reference, picture).await;
        }
    }

    /// Asks the same about two references, of which one never was.
    async fn compare(&mut self, tenant: &Tenant, ask: &Ask, other: &Ask) {
        self.findings.foreign += 1;
        let theirs = self.door.send(keyed(ask.clone(), tenant)).await;
        let nobodys = self.door.send(keyed(other.clone(), tenant)).await;
        if !is_same(&theirs, &nobodys) {
            let (name, way, path) = (&tenant.name, &ask.method, &ask.path);
            let (theirs, nobodys) = (short(&theirs), short(&nobodys));
            self.findings.complain(format!(
                "{name} learns something by {way} {path}: {theirs} and not {nobodys}"
            ));
        }
    }

    /// Whoever owns it reads it.
    async fn own(&mut self, owner: &Tenant, reference: &str, picture: &str) {
        let read = self.door.send(keyed(content(reference), owner)).await;
        let read = read.ok().filter(|answer| answer.status == 200);
        let read = read.map(|answer| blake3::hash(&answer.body).to_hex().to_string());
        if read.as_deref() != Some(picture) {
            let name = &owner.name;
            self.findings.complain(format!("{name} cannot read {reference} of its own"));
        }
    }
}

/// Everything that can be done with a reference.
fn every(reference: &str) -> Vec<Ask> {
    let path = format!("/photic/v1/media/{reference}");
    let ask = |method, path: &str, body: &str| Ask {
        method,
        path: path.to_owned(),
        headers: vec![(CONTENT_TYPE, "application/json".to_owned())],
        body: Bytes::from(body.to_owned()),
    };
    let said = format!(
        r#"{{"model":"gpt-5.4","messages":[{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"photic:{reference}"}}}}]}}]}}"#
    );
    vec![
        ask(Method::GET, &path, ""),
        content(reference),
        ask(Method::POST, &format!("{path}/address"), r#"{"ttl_s":60}"#),
        ask(Method::POST, "/v1/chat/completions", &said),
        ask(Method::DELETE, &path, ""),
    ]
}

fn content(reference: &str) -> Ask {
    let path = format!("/photic/v1/media/{reference}/content");
    Ask { method: Method::GET, path, headers: Vec::new(), body: Bytes::new() }
}

fn keyed(mut ask: Ask, tenant: &Tenant) -> Ask {
    if let Some(key) = &tenant.key {
        ask.headers.push((HeaderName::from_static("x-photic-key"), key.clone()));
    }
    let provider = format!("Bearer {}", tenant.provider_key);
    if ask.path.starts_with("/v1/") {
        ask.headers.push((hyper::header::AUTHORIZATION, provider));
    }
    ask
}

/// A reference that looks like this one and never was: its own letters, in another order.
fn random(reference: &str, seed: u64) -> String {
    let Some((prefix, name)) = reference.split_once('_') else { return reference.to_owned() };
    let mut letters: Vec<char> = name.chars().collect();
    let mut random = SplitMix64::of_pair(0x001e_77e5, seed);
    for place in (1..letters.len()).rev() {
        letters.swap(place, random.below(place + 1));
    }
    format!("{prefix}_{}", letters.into_iter().collect::<String>())
}

/// Whether two answers say the same. A model numbers its replies; there it is what it was sent that
/// counts, and that its reply is as long.
fn is_same(one: &Result<Answer, NoAnswer>, other: &Result<Answer, NoAnswer>) -> bool {
    let (Ok(one), Ok(other)) = (one, other) else { return false };
    let rest = |answer: &Answer| {
        let mut headers = answer.headers.clone();
        for name in OWN {
            headers.remove(name);
        }
        headers
    };
    let same_body = one.body == other.body || one.header(SENT).is_some();
    one.status == other.status && same_body && rest(one) == rest(other)
}

fn short(answer: &Result<Answer, NoAnswer>) -> String {
    match answer {
        Ok(answer) => {
            let body = String::from_utf8_lossy(&answer.body[..answer.body.len().min(100)]);
            format!("{} {body}", answer.status)
        }
        Err(no) => format!("{no:?}"),
    }
}
