//! Asks an endpoint what it states about a model.
//!
//! Requests have limits on time and size. The key is sent only to the given base URL, and no
//! redirect is followed. Texts of an endpoint are never printed, only the facts read from its
//! documents.

use std::time::Duration;

use anyhow::Context as _;
use http_body_util::{BodyExt as _, Limited};
use photic::Wire;
use photic::profile::capability::{Question, Statement, questions, statements};
use photic_net::{Client, Outgoing, Timeouts};

/// Largest answer; lists of hundreds of models take a few megabytes.
const MAX_ANSWER_BYTES: usize = 32 << 20;
/// Longest time for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// The result of one request.
pub(super) struct EndpointAnswer {
    /// The request, such as `GET http://127.0.0.1/v1/models`.
    pub(super) asked: String,
    /// The outcome in words.
    pub(super) outcome: String,
    pub(super) statements: Vec<Statement>,
}

/// Sends requests until one states whether the model sees.
pub(super) fn ask(
    wire: Wire,
    base: &str,
    model: &str,
    key_env: Option<&str>,
) -> anyhow::Result<Vec<EndpointAnswer>> {
    let key = match key_env {
        Some(name) => {
            let key = std::env::var(name).ok().filter(|key| !key.trim().is_empty());
            Some(key.with_context(|| format!("`{name}` is not set"))?)
        }
        None => None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let timeouts =
        Timeouts { connect: ANSWER_TIMEOUT / 2, answer: ANSWER_TIMEOUT, ..Timeouts::default() };
    // Connections belong to the runtime that opens them.
    runtime.block_on(async {
        let client = Client::new(timeouts);
        let mut answers = Vec::new();
        for question in questions(wire, base, model) {
            let answer = one(&client, wire, question, model, key.as_deref()).await?;
            let tells = answer.statements.iter().any(|said| said.field == "images");
            answers.push(answer);
            if tells {
                break;
            }
        }
        Ok(answers)
    })
}

/// Sends one request.
async fn one(
    client: &Client,
    wire: Wire,
    question: Question,
    model: &str,
    key: Option<&str>,
) -> anyhow::Result<EndpointAnswer> {
    let method = if question.body.is_some() { "POST" } else { "GET" };
    let asked = format!("{method} {}", question.address);
    let request = request(wire, method, question, key)?;
    let told =
        |outcome: String, statements| EndpointAnswer { asked: asked.clone(), outcome, statements };
    let reply = match client.send(request).await {
        Ok(reply) => reply,
        Err(error) => return Ok(told(error.to_string(), Vec::new())),
    };
    let status = reply.status();
    if !status.is_success() {
        return Ok(told(format!("status {}", status.as_u16()), Vec::new()));
    }
    let document = Limited::new(reply.into_body(), MAX_ANSWER_BYTES).collect();
    let Ok(Ok(document)) = tokio::time::timeout(ANSWER_TIMEOUT, document).await else {
        return Ok(told("the answer was cut off or is too long".to_owned(), Vec::new()));
    };
    let statements = statements(model, &document.to_bytes());
    let outcome = match statements.len() {
        0 => "no facts about this model".to_owned(),
        count => crate::style::counted(count, "fact"),
    };
    Ok(told(outcome, statements))
}

/// Builds a request.
fn request(
    wire: Wire,
    method: &str,
    question: Question,
    key: Option<&str>,
) -> anyhow::Result<http::Request<Outgoing>> {
    let mut request = http::Request::builder()
        .method(method)
        .uri(&question.address)
        .header(http::header::ACCEPT, "application/json");
    for (name, value) in wire.http().required_headers {
        request = request.header(*name, *value);
    }
    if question.body.is_some() {
        request = request.header(http::header::CONTENT_TYPE, "application/json");
    }
    if let Some(key) = key {
        let (name, before) = wire.key_header();
        // The error of an invalid header value would contain the key.
        let value = http::HeaderValue::from_str(&format!("{before}{key}")).ok();
        let mut value = value.context("the key is not a valid header value")?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    let pieces = question.body.into_iter().map(Into::into).collect();
    request.body(Outgoing::pieces(pieces)).context("the base URL is not valid")
}
