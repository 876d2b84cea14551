//! Chooses the model for `inspect`: the configured vision model, the default, the active one, or
//! the first.
//!
//! A model that is known to be blind is never chosen. A model without this information may be.

use photic::profile::{Capability, MediaKind};

use super::model::{Key, Model, VisionModels};
use crate::refusal::{Refusal, RefusalCode};

/// Returns the model to ask, or the reason why there is none.
pub(super) fn choose(settings: &VisionModels) -> Result<&Model, Refusal> {
    if settings.block_images {
        return Err(blocked());
    }
    let models = settings.models.as_deref().ok_or_else(unavailable)?;
    if models.is_empty() {
        return Err(none());
    }
    let model = sighted(settings, models)?;
    match model.key {
        Key::Given(_) | Key::Open => Ok(model),
        Key::Missing => Err(no_key(model)),
    }
}

fn sighted<'m>(settings: &VisionModels, models: &'m [Model]) -> Result<&'m Model, Refusal> {
    // A model configured for vision is not replaced by another, which could cost more.
    if let Some(name) = &settings.vision {
        let model = find(models, name).ok_or_else(|| unresolved(name, models))?;
        return if sees(model) { Ok(model) } else { Err(blind(model)) };
    }
    let named = [&settings.default, &settings.active].into_iter().flatten();
    let mut candidates = named.filter_map(|name| find(models, name)).chain(models).peekable();
    let first = candidates.peek().copied();
    let found = candidates.find(|model| sees(model));
    found.ok_or_else(|| first.map_or_else(none, blind))
}

fn sees(model: &Model) -> bool {
    match model.profile.sees(MediaKind::Image) {
        Capability::Yes | Capability::Unknown => true,
        Capability::No => false,
    }
}

/// Finds a model by `provider/model` or by its id. Ids may contain slashes.
fn find<'m>(models: &'m [Model], name: &str) -> Option<&'m Model> {
    let whole = models.iter().find(|model| model.name() == name);
    whole.or_else(|| models.iter().find(|model| model.id == name))
}

fn blocked() -> Refusal {
    Refusal::new(
        RefusalCode::ImagesBlocked,
        "the settings say that no picture is sent to a model",
        "disable `block_images` to use `inspect`",
    )
    .known_as(
        "Image submission is disabled by settings (images.blockImages=true). \
         Disable it to use inspect_image.",
    )
}

pub(super) fn unavailable() -> Refusal {
    Refusal::new(
        RefusalCode::ModelsUnavailable,
        "no vision model is configured",
        "call `view` and look yourself; or start `photic mcp` with `--model MODEL` and set its key: \
         `OPENAI_API_KEY`, or `ANTHROPIC_API_KEY` for a Claude model",
    )
    .known_as("Model registry is unavailable for inspect_image.")
}

fn none() -> Refusal {
    Refusal::new(
        RefusalCode::NoModels,
        "the list of models is empty",
        "set `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, or name a model that can see with `--model`",
    )
    .known_as("No models available for inspect_image.")
}

fn unresolved(name: &str, models: &[Model]) -> Refusal {
    let name = crate::source::shown(name);
    Refusal::new(
        RefusalCode::ModelUnresolved,
        format!("there is no model `{name}`"),
        "name one of the candidates",
    )
    .with_candidates(models.iter().filter(|model| sees(model)).map(Model::name).collect())
    .known_as("Unable to resolve a model for inspect_image.")
}

fn blind(model: &Model) -> Refusal {
    let name = model.name();
    Refusal::new(
        RefusalCode::BlindModel,
        format!("`{name}` cannot see pictures"),
        "name a model that can see with `--model`",
    )
    .known_as(format!(
        "Resolved model {name} does not support image input. \
         Configure a vision-capable model for modelRoles.vision."
    ))
}

fn no_key(model: &Model) -> Refusal {
    let name = model.name();
    let variable = model.key_variable.as_deref().map(|variable| format!(" as `{variable}`"));
    Refusal::new(
        RefusalCode::NoKey,
        format!("there is no key for `{name}`"),
        format!(
            "set the key of its provider in the environment{}, or choose another model with \
             `--model`",
            variable.unwrap_or_default()
        ),
    )
    .known_as(format!(
        "No API key available for {name}. Configure credentials for this provider or choose \
         another vision-capable model."
    ))
}
