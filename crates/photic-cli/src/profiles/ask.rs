//! Asking an endpoint what it says about a model.
//!
//! Owns the requests and their bounds. The key goes to the base address that was named and to
//! nobody else, and no redirect is followed. Words of an endpoint are never repeated, only what is
//! read from its documents.

use std::time::Duration;

use anyhow::Context as _;
use http_body_util::{BodyExt as _, Limited};
use photic::Wire;
use photic::profile::capability::{Question, Statement, questions, statements};
use photic_net::{Client, Outgoing, Timeouts};

/// Lists of hundreds of models are a few megabytes.
const LONGEST: usize = 32 << 20;
const PATIENCE: Duration = Duration::from_secs(20);

/// What came of a question.
pub(super) struct Answer {
    /// As in `GET http://127.0.0.1/v1/models`.
    pub(super) asked: String,
    /// In words.
    pub(super) outcome: String,
    pub(super) statements: Vec<Statement>,
}

/// Asks until somebody says whether the model sees.
pub(super) fn ask(
    wire: Wire,
    base: &str,
    model: &str,
    key_env: Option<&str>,
) -> anyhow::Result<Vec<Answer>> {
    let key = match key_env {
        Some(name) => {
            let key = std::env::var(name).ok().filter(|key| !key.trim().is_empty());
            Some(key.with_context(|| format!("`{name}` is not set"))?)
        }
        None => None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let timeouts = Timeouts { connect: PATIENCE / 2, answer: PATIENCE, ..Timeouts::default() };
    // Connections belong to the runtime that makes them.
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

async fn one(
    client: &Client,
    wire: Wire,
    question: Question,
    model: &str,
    key: Option<&str>,
) -> anyhow::Result<Answer> {
    let method = if question.body.is_some() { "POST" } else { "GET" };
    let asked = format!("{method} {}", question.address);
    let request = request(wire, method, question, key)?;
    let told = |outcome: String, statements| Answer { asked: asked.clone(), outcome, statements };
    let reply = match client.send(request).await {
        Ok(reply) => reply,
        Err(error) => return Ok(told(error.to_string(), Vec::new())),
    };
    let status = reply.status();
    if !status.is_success() {
        return Ok(told(format!("status {}", status.as_u16()), Vec::new()));
    }
    let document = Limited::new(reply.into_body(), LONGEST).collect();
    let Ok(Ok(document)) = tokio::time::timeout(PATIENCE, document).await else {
        return Ok(told("the answer broke off, or is too long".to_owned(), Vec::new()));
    };
    let statements = statements(model, &document.to_bytes());
    let outcome = match statements.len() {
        0 => "it says nothing about this model".to_owned(),
        count => crate::style::counted(count, "fact"),
    };
    Ok(told(outcome, statements))
}

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
        // The error of a header that cannot be one would hold it.
        let value = http::HeaderValue::from_str(&format!("{before}{key}")).ok();
        let mut value = value.context("the key cannot be sent")?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    let pieces = question.body.into_iter().map(Into::into).collect();
    request.body(Outgoing::pieces(pieces)).context("the base address is none")
}
