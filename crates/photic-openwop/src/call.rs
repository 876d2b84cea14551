//! The AI call: checks every part, collects its media, marks untrusted content, and asks a model.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::admit::{self, Message};
use crate::chat::{self, Settings};
use crate::content::{MediaSource, MessagePart, ParsedMessage, PartContent, media};
use crate::exchange::Answer;
use crate::failure::Failure;
use crate::host::{CallError, CallRequest, FetchError, Host, Limits, Wanted};
use crate::modality::Modality;
use crate::read;

/// A call as received. Settings are checked last.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    provider: Option<Value>,
    model: Option<Value>,
    #[serde(borrow, default)]
    messages: Option<Vec<Message<'a>>>,
    system_prompt: Option<Value>,
    temperature: Option<Value>,
    max_tokens: Option<Value>,
    stop_sequences: Option<Value>,
    response_schema: Option<Value>,
}

/// The target of a call.
struct CallTarget {
    provider: Option<String>,
    model: String,
}

/// Answers a call.
pub(crate) async fn call<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    body: &[u8],
) -> Result<Answer, Failure> {
    let mut request: Request<'_> =
        serde_json::from_slice(body).map_err(|error| Failure::unreadable("call", &error))?;
    let messages = request.messages.take().filter(|messages| !messages.is_empty());
    let messages =
        messages.ok_or_else(|| Failure::invalid("`messages` must be a non-empty list"))?;
    let admitted = admit::admit(messages, host.modalities())?;
    let held = admit::modalities(&admitted);
    let limits = host.limits();
    let turns = read::read(&admitted, limits, host.basis())?;
    let settings = settings(&request)?;
    let chosen = choose(host, &request)?;
    let turns = resolved(host, tenant, limits, turns).await?;
    let Some(CallTarget { provider, model }) = chosen else {
        return Ok(accepted(host, &held));
    };
    let turns = fetched(host, tenant, limits, turns).await?;
    let body = chat::body(&model, &settings, &turns);
    drop(turns);
    let completion = host.call(tenant, CallRequest { provider, model, body }).await;
    let answer = chat::answer(&completion.map_err(Failure::Call)?, &settings)?;
    Ok(Answer::json(200, &answer))
}

/// Answers a call that has no model: it was checked and would be accepted.
fn accepted<H: Host>(host: &H, held: &[&str]) -> Answer {
    let media = host.modalities().iter().copied().filter(|kind| *kind != Modality::Text);
    let advertised: Vec<&str> =
        std::iter::once(Modality::Text).chain(media).map(Modality::name).collect();
    let body = json!({"ok": true, "accepted": true, "advertised": advertised, "modalities": held});
    Answer::json(200, &body)
}

fn choose<H: Host>(host: &H, request: &Request<'_>) -> Result<Option<CallTarget>, Failure> {
    let provider = name(request.provider.as_ref(), "provider")?;
    let mut model = name(request.model.as_ref(), "model")?;
    if let Some(id) = &provider {
        let known = host.providers().into_iter().find(|known| known.id == *id);
        let known = known.ok_or(Failure::Call(CallError::ProviderNotSupported))?;
        model = model.or(known.model);
    }
    let model = model.or_else(|| host.default_model());
    Ok(model.map(|model| CallTarget { provider, model }))
}

fn settings(request: &Request<'_>) -> Result<Settings, Failure> {
    let temperature = request.temperature.as_ref().map(|value| {
        let value = value.as_f64().filter(|value| (0.0..=2.0).contains(value));
        value.ok_or_else(|| Failure::invalid("`temperature` is a number from 0 to 2"))
    });
    let max_tokens = request.max_tokens.as_ref().map(|value| {
        let value = value.as_u64().filter(|value| *value > 0);
        value.ok_or_else(|| Failure::invalid("`maxTokens` is a whole number above 0"))
    });
    let stop = request.stop_sequences.as_ref().map(|value| {
        let list = value.as_array().map(|list| {
            list.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        list.flatten().ok_or_else(|| Failure::invalid("`stopSequences` is a list of strings"))
    });
    let schema = request.response_schema.as_ref().map(|value| {
        let schema = Some(value.clone()).filter(Value::is_object);
        schema.ok_or_else(|| Failure::invalid("`responseSchema` is a JSON Schema"))
    });
    Ok(Settings {
        system_prompt: text(request.system_prompt.as_ref(), "systemPrompt")?,
        temperature: temperature.transpose()?,
        max_tokens: max_tokens.transpose()?,
        stop: stop.transpose()?.unwrap_or_default(),
        schema: schema.transpose()?,
    })
}

fn text(value: Option<&Value>, name: &str) -> Result<Option<String>, Failure> {
    let text = value.map(|value| value.as_str().map(str::to_owned));
    text.map(|text| text.ok_or_else(|| Failure::invalid(format!("`{name}` is not a string"))))
        .transpose()
}

fn name(value: Option<&Value>, what: &str) -> Result<Option<String>, Failure> {
    Ok(text(value, what)?.filter(|name| !name.is_empty()))
}

/// Loads the media behind references.
async fn resolved<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    limits: Limits,
    mut turns: Vec<ParsedMessage<MediaSource<Bytes>>>,
) -> Result<Vec<ParsedMessage<MediaSource<Bytes>>>, Failure> {
    let mut left = room(limits, &turns);
    for MessagePart { what, .. } in turns.iter_mut().flat_map(|turn| turn.pieces.iter_mut()) {
        let PartContent::Medium { modality, media_type, bytes } = what else { continue };
        let MediaSource::Reference(name) = &*bytes else { continue };
        let (found, _) = host.resolve(tenant, name).await?.ok_or(Failure::UnknownRef)?;
        fits(limits, &mut left, found.bytes.len())?;
        // The stored type decides, whatever the part declares.
        if Modality::of_media(&found.media_type) != Some(*modality) {
            return Err(Failure::invalid(format!(
                "the `mediaRef` is not of type `{}`",
                modality.name()
            )));
        }
        read::check(*modality, &found.bytes)?;
        *media_type = found.media_type;
        *bytes = MediaSource::Here(found.bytes);
    }
    Ok(turns)
}

/// Fetches the media behind URLs. URLs in a text are left alone.
async fn fetched<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    limits: Limits,
    turns: Vec<ParsedMessage<MediaSource<Bytes>>>,
) -> Result<Vec<ParsedMessage<Bytes>>, Failure> {
    let mut left = room(limits, &turns);
    let mut all = Vec::with_capacity(turns.len());
    for turn in turns {
        let mut pieces = Vec::with_capacity(turn.pieces.len());
        for MessagePart { trust, what } in turn.pieces {
            let what = match what {
                PartContent::Words(words) => PartContent::Words(words),
                PartContent::Medium { modality, media_type, bytes } => {
                    let bytes = match bytes {
                        MediaSource::Here(bytes) => bytes,
                        MediaSource::Reference(_) => return Err(Failure::UnknownRef),
                        MediaSource::Address(url) => {
                            let bytes = get(host, tenant, limits, &url).await?;
                            fits(limits, &mut left, bytes.len())?;
                            read::check(modality, &bytes)?;
                            bytes
                        }
                    };
                    PartContent::Medium { modality, media_type, bytes }
                }
            };
            pieces.push(MessagePart { trust, what });
        }
        all.push(ParsedMessage { role: turn.role, pieces });
    }
    Ok(all)
}

async fn get<H: Host>(
    host: &H,
    tenant: &H::Tenant,
    limits: Limits,
    url: &str,
) -> Result<Bytes, Failure> {
    let wanted = Wanted { url, most: limits.part, resolves_to: None };
    match host.fetch(tenant, wanted).await {
        Ok(found) if (200..300).contains(&found.status) => Ok(found.bytes),
        Ok(_) | Err(FetchError::Failed) => Err(Failure::FetchFailed),
        Err(FetchError::Blocked) => Err(Failure::SsrfBlocked),
        Err(FetchError::TooLarge) => Err(Failure::TooLong { limit: limits.part }),
    }
}

/// Returns how many bytes a call may still load beside those it contains.
fn room(limits: Limits, turns: &[ParsedMessage<MediaSource<Bytes>>]) -> usize {
    let here = media(turns).map(|(_, _, from)| match from {
        MediaSource::Here(bytes) => bytes.len(),
        MediaSource::Reference(_) | MediaSource::Address(_) => 0,
    });
    limits.call.saturating_sub(here.sum())
}

fn fits(limits: Limits, left: &mut usize, bytes: usize) -> Result<(), Failure> {
    if bytes > limits.part {
        return Err(Failure::TooLong { limit: limits.part });
    }
    *left = left.checked_sub(bytes).ok_or(Failure::TooLong { limit: limits.call })?;
    Ok(())
}
