//! Isolation of media: a foreign reference is answered exactly like an unknown one, in every
//! operation.

use std::net::SocketAddr;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderName};
use photic_testkit::SplitMix64;

use super::Findings;
use crate::connection::{AgentRequest, Answer, Connection, NoAnswer};
use crate::journal::Line;
use crate::tenants::Tenant;

/// Headers that may differ between equivalent answers.
const VARIABLE_HEADERS: [&str; 4] =
    ["date", "x-photic-request-id", "x-photic-turn", "x-request-id"];
/// Header of model replies with the digest of the received body.
const BODY_DIGEST_HEADER: &str = "x-mock-body";
/// Number of references that are tried with every operation.
const EXHAUSTIVE_REFERENCES: usize = 12;

/// Number of concurrent connections.
const CONCURRENT_CLIENTS: usize = 8;

/// Requests every reference with its owner's key and with others: every operation by every tenant
/// for the first ones, and reading for the others.
pub async fn foreign(connection: SocketAddr, tenants: &[Tenant], lines: &[Line]) -> Findings {
    let uploads = lines.iter().filter_map(|line| match line {
        Line::Upload { tenant, reference, picture } => Some((tenant, reference, picture)),
        Line::Turn(_) | Line::Failure { .. } => None,
    });
    let uploads: Vec<_> = uploads.enumerate().collect();
    let lane = |number: usize| {
        let mut stranger =
            ForeignClient { connection: Connection::to(connection), findings: Findings::default() };
        let uploads = &uploads;
        async move {
            for (place, (owner, reference, picture)) in
                uploads.iter().skip(number).step_by(CONCURRENT_CLIENTS)
            {
                stranger.ask_about(tenants, *place, (owner, reference, picture)).await;
            }
            stranger.findings
        }
    };
    let mut findings = Findings::default();
    for found in futures_util::future::join_all((0..CONCURRENT_CLIENTS).map(lane)).await {
        findings.add(found);
    }
    findings
}

/// A client that requests foreign references.
struct ForeignClient {
    connection: Connection,
    findings: Findings,
}

impl ForeignClient {
    /// Requests a reference as every other tenant, then as its owner.
    async fn ask_about(
        &mut self,
        tenants: &[Tenant],
        place: usize,
        (owner, reference, picture): (&str, &str, &str),
    ) {
        let others: Vec<&Tenant> = tenants.iter().filter(|one| one.name != *owner).collect();
        let random = random(reference, place as u64);
        if place < EXHAUSTIVE_REFERENCES {
            for (ask, other) in every(reference).iter().zip(&every(&random)) {
                for tenant in &others {
                    self.compare(tenant, ask, other).await;
                }
            }
        } else if let Some(tenant) = others.get(place % others.len().max(1)) {
            self.compare(tenant, &content(reference), &content(&random)).await;
        }
        // After the others tried everything, including removal.
        if let Some(owner) = tenants.iter().find(|tenant| tenant.name == *owner) {
            self.own(owner, reference, picture).await;
        }
    }

    /// Sends a request about two references, of which one never existed.
    async fn compare(&mut self, tenant: &Tenant, ask: &AgentRequest, other: &AgentRequest) {
        self.findings.foreign += 1;
        let theirs = self.connection.send(keyed(ask.clone(), tenant)).await;
        let nobodys = self.connection.send(keyed(other.clone(), tenant)).await;
        if !is_same(&theirs, &nobodys) {
            let (name, way, path) = (&tenant.name, &ask.method, &ask.path);
            let (theirs, nobodys) = (short(&theirs), short(&nobodys));
            self.findings.complain(format!(
                "{name} learns something by {way} {path}: {theirs} and not {nobodys}"
            ));
        }
    }

    /// Checks that the owner can read it.
    async fn own(&mut self, owner: &Tenant, reference: &str, picture: &str) {
        let read = self.connection.send(keyed(content(reference), owner)).await;
        let read = read.ok().filter(|answer| answer.status == 200);
        let read = read.map(|answer| blake3::hash(&answer.body).to_hex().to_string());
        if read.as_deref() != Some(picture) {
            let name = &owner.name;
            self.findings.complain(format!("{name} cannot read {reference} of its own"));
        }
    }
}

/// Returns every operation on a reference.
fn every(reference: &str) -> Vec<AgentRequest> {
    let path = format!("/photic/v1/media/{reference}");
    let ask = |method, path: &str, body: &str| AgentRequest {
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

fn content(reference: &str) -> AgentRequest {
    let path = format!("/photic/v1/media/{reference}/content");
    AgentRequest { method: Method::GET, path, headers: Vec::new(), body: Bytes::new() }
}

fn keyed(mut ask: AgentRequest, tenant: &Tenant) -> AgentRequest {
    if let Some(key) = &tenant.key {
        ask.headers.push((HeaderName::from_static("x-photic-key"), key.clone()));
    }
    let provider = format!("Bearer {}", tenant.provider_key);
    if ask.path.starts_with("/v1/") {
        ask.headers.push((hyper::header::AUTHORIZATION, provider));
    }
    ask
}

/// Returns a reference of the same form that never existed: the letters in another order.
fn random(reference: &str, seed: u64) -> String {
    let Some((prefix, name)) = reference.split_once('_') else { return reference.to_owned() };
    let mut letters: Vec<char> = name.chars().collect();
    let mut random = SplitMix64::of_pair(0x001e_77e5, seed);
    for place in (1..letters.len()).rev() {
        letters.swap(place, random.below(place + 1));
    }
    format!("{prefix}_{}", letters.into_iter().collect::<String>())
}

/// Returns whether two answers are equivalent. Model replies are numbered; they are compared by the
/// body the model received and by their length.
fn is_same(one: &Result<Answer, NoAnswer>, other: &Result<Answer, NoAnswer>) -> bool {
    let (Ok(one), Ok(other)) = (one, other) else { return false };
    let rest = |answer: &Answer| {
        let mut headers = answer.headers.clone();
        for name in VARIABLE_HEADERS {
            headers.remove(name);
        }
        headers
    };
    let same_body = one.body == other.body || one.header(BODY_DIGEST_HEADER).is_some();
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
