//! The environment variables that hold keys of providers.

/// Environment variables from which SDKs read keys. Only whether they are set is ever shown.
pub(crate) const KEY_VARIABLES: [&str; 9] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
];

/// Returns the names of those that are set.
pub(crate) fn set_keys() -> Vec<&'static str> {
    KEY_VARIABLES.into_iter().filter(|name| is_set(name)).collect()
}

/// Returns `true` if an environment variable is set to more than white space.
pub(crate) fn is_set(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| !value.trim().is_empty())
}
