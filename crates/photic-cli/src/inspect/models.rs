//! Selects vision models: the one that was named, or those with a key in the environment.

use photic::Wire;
use photic_tools::{Key, Model};

use crate::arguments::InspectOptions;
use crate::model::profile_on_any_wire;

/// A model provider: the environment variables of its SDKs, and its address.
struct Provider {
    name: &'static str,
    key: &'static str,
    base_variable: &'static str,
    base: &'static str,
    /// Default model.
    model: &'static str,
    wire: Wire,
}

/// The known providers, in order of preference.
const PROVIDERS: [Provider; 2] = [
    Provider {
        name: "anthropic",
        key: "ANTHROPIC_API_KEY",
        base_variable: "ANTHROPIC_BASE_URL",
        base: "https://api.anthropic.com",
        model: "claude-sonnet-5",
        wire: Wire::Anthropic,
    },
    Provider {
        name: "openai",
        key: "OPENAI_API_KEY",
        base_variable: "OPENAI_BASE_URL",
        base: "https://api.openai.com/v1",
        model: "gpt-5.4",
        wire: Wire::OpenAiResponses,
    },
];

/// The model, wire and base URL that were given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModelSelection<'a> {
    pub(crate) model: Option<&'a str>,
    pub(crate) wire: Option<Wire>,
    pub(crate) base_url: Option<&'a str>,
}

impl<'a> ModelSelection<'a> {
    pub(super) fn of(options: &'a InspectOptions) -> Self {
        let (model, base_url) = (options.model.as_deref(), options.base_url.as_deref());
        Self { model, wire: options.wire, base_url }
    }
}

/// The models, with keys and base URLs from the environment.
pub(crate) fn from(
    asked: &ModelSelection<'_>,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<Model> {
    let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let base =
        |maker: &Provider| variable(maker.base_variable).unwrap_or_else(|| maker.base.to_owned());
    let Some(id) = asked.model else {
        let keyed = PROVIDERS.iter().filter_map(|maker| {
            let key = Key::Given(variable(maker.key)?);
            Some(Model::new(maker.name, maker.model, maker.wire, &base(maker), key))
        });
        return keyed.collect();
    };
    let wire = asked.wire.unwrap_or_else(|| best_wire(id));
    let maker = provider(wire);
    let key = match (variable(maker.key), asked.base_url) {
        (Some(key), _) => Key::Given(key),
        // A local server may need no key.
        (None, Some(_)) => Key::Open,
        (None, None) => Key::Missing,
    };
    let base = asked.base_url.map_or_else(|| base(maker), str::to_owned);
    vec![Model::new(maker.name, id, wire, &base, key).with_key_variable(maker.key)]
}

/// The provider of a wire; OpenAI if there is none.
fn provider(wire: Wire) -> &'static Provider {
    let [.., openai] = &PROVIDERS;
    let is_same = |maker: &&Provider| maker.wire.http().family == wire.http().family;
    PROVIDERS.iter().find(is_same).unwrap_or(openai)
}

/// The environment variables of a model's provider: those of its key and of its base URL.
#[cfg(feature = "mcp")]
pub(crate) fn variables(model: &str) -> (&'static str, &'static str) {
    let maker = provider(best_wire(model));
    (maker.key, maker.base_variable)
}

/// The wire on which a model is known; Chat Completions if it is unknown.
fn best_wire(id: &str) -> Wire {
    let profile = profile_on_any_wire(Some(id));
    let known = profile.id != photic::Profile::generic(profile.wire).id;
    if known { profile.wire } else { Wire::OpenAiChat }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn models(flags: &[&str], variables: &[(&str, &str)]) -> Vec<Model> {
        let line = ["photic", "inspect", "a.png", "what?"].iter().chain(flags);
        let Command::Inspect(options) = Arguments::parse_from(line).command else {
            return Vec::new();
        };
        from(&ModelSelection::of(&options), |name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn without_a_name_there_are_those_that_there_are_keys_for() {
        assert!(models(&[], &[]).is_empty());
        assert!(models(&[], &[("OPENAI_API_KEY", " ")]).is_empty());
        let both = models(&[], &[("OPENAI_API_KEY", "o"), ("ANTHROPIC_API_KEY", "a")]);
        let names: Vec<String> = both.iter().map(Model::name).collect();
        assert_eq!(names, ["anthropic/claude-sonnet-5", "openai/gpt-5.4"]);
        assert_eq!(both[1].key, Key::Given("o".to_owned()));
    }

    #[test]
    fn a_name_decides_the_wire_and_with_it_the_key_and_the_place() {
        let claude = &models(&["--model", "claude-sonnet-5"], &[("OPENAI_API_KEY", "o")])[0];
        assert_eq!((claude.wire, &claude.key), (Wire::Anthropic, &Key::Missing));
        assert_eq!(claude.base_url, "https://api.anthropic.com");
        let own = ["--model", "own-model", "--base-url", "http://127.0.0.1:1/v1"];
        let own = &models(&own, &[])[0];
        assert_eq!((own.wire, &own.key), (Wire::OpenAiChat, &Key::Open));
        let stated = ["--model", "gpt-4o", "--wire", "openai-chat"];
        let moved = [("OPENAI_BASE_URL", "http://127.0.0.1:2/v1"), ("OPENAI_API_KEY", "o")];
        let moved = &models(&stated, &moved)[0];
        assert_eq!(
            (moved.wire, moved.base_url.as_str()),
            (Wire::OpenAiChat, "http://127.0.0.1:2/v1")
        );
    }
}
