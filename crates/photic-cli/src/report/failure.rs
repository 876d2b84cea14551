//! Failures as JSON: the output of every command with `--json` that cannot do its work.

use photic_gateway::ConfigError;
use photic_tools::Refusal;
use schemars::JsonSchema;
use serde::Serialize;

use crate::style::Hint;

/// The output of `--json` on failure, and if a tool refused. The exit code is that of the failure, or
/// 1 for a refusal.
#[derive(JsonSchema, Serialize)]
pub(crate) struct FailureReport {
    /// The failure.
    pub(crate) error: ErrorReport,
}

/// A failure.
#[derive(Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub(crate) struct ErrorReport {
    /// Kind of the failure: `usage`, `not_found`, `permission_denied`, `file`, `unknown_format`,
    /// `settings`, `store` or `failed`; or the stable code of a refusal, such as `not_an_image`.
    pub(crate) kind: String,
    /// The failure in words, with its causes.
    pub(crate) message: String,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// Names that may have been meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) candidates: Vec<String>,
}

/// A body in no known format.
#[derive(Debug)]
pub(crate) struct UnknownFormat(pub(crate) String);

impl std::fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownFormat {}

impl FailureReport {
    /// The report of an error.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        let hint = error.downcast_ref::<Hint>().map(ToString::to_string);
        let causes = error.chain().skip(usize::from(hint.is_some()));
        let message: Vec<String> = causes.map(ToString::to_string).collect();
        let kind = kind(error).to_owned();
        let message = message.join(": ");
        Self { error: ErrorReport { kind, message, hint, candidates: Vec::new() } }
    }

    /// The report of arguments that are misused.
    pub(crate) fn of_usage(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let text = text.trim_start_matches("error: ");
        let end = ["\n\nUsage:", "\n\nFor more information"].map(|end| text.find(end));
        let end = end.into_iter().flatten().min().unwrap_or(text.len());
        let lines = text[..end].lines().map(str::trim).filter(|line| !line.is_empty());
        let (tips, message): (Vec<&str>, Vec<&str>) =
            lines.partition(|line| line.starts_with("tip:"));
        let tips = tips.iter().map(|tip| tip.trim_start_matches("tip:").trim());
        let more = "pass `--help` to list the options";
        let hint = tips.chain([more]).collect::<Vec<_>>().join("; ");
        let kind = "usage".to_owned();
        let (message, hint) = (message.join(" "), Some(hint));
        Self { error: ErrorReport { kind, message, hint, candidates: Vec::new() } }
    }

    /// The report of a refusal.
    pub(crate) fn of_refusal(refusal: &Refusal) -> Self {
        let code = serde_json::to_value(refusal.code).unwrap_or_default();
        let error = ErrorReport {
            kind: code.as_str().unwrap_or("refused").to_owned(),
            message: refusal.says.clone(),
            hint: Some(refusal.hint.clone()).filter(|hint| !hint.is_empty()),
            candidates: refusal.candidates.clone(),
        };
        Self { error }
    }
}

/// The kind of an error.
fn kind(error: &anyhow::Error) -> &'static str {
    if error.downcast_ref::<UnknownFormat>().is_some() {
        return "unknown_format";
    }
    for cause in error.chain() {
        if cause.downcast_ref::<ConfigError>().is_some() {
            return "settings";
        }
        if cause.downcast_ref::<photic_store::Error>().is_some() {
            return "store";
        }
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            return match error.kind() {
                std::io::ErrorKind::NotFound => "not_found",
                std::io::ErrorKind::PermissionDenied => "permission_denied",
                _ => "file",
            };
        }
    }
    "failed"
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn errors_have_a_kind_their_causes_and_a_hint() {
        let missing = std::fs::read("/no/such/file").context("cannot read `x`");
        let report = FailureReport::of(&missing.context(Hint("pass another")).unwrap_err()).error;
        assert_eq!(report.kind, "not_found");
        assert!(report.message.starts_with("cannot read `x`: "), "{}", report.message);
        assert_eq!(report.hint.as_deref(), Some("pass another"));
        let odd = anyhow::Error::new(UnknownFormat("what?".to_owned())).context(Hint("name it"));
        assert_eq!(FailureReport::of(&odd).error.kind, "unknown_format");
        assert_eq!(FailureReport::of(&odd).error.message, "what?");
    }

    #[test]
    fn misuse_is_said_in_one_sentence() {
        let wrong = Arguments::command().try_get_matches_from(["photic", "check", "--form", "x"]);
        let report = FailureReport::of_usage(&wrong.unwrap_err()).error;
        assert_eq!(report.kind, "usage");
        assert_eq!(report.message, "unexpected argument '--form' found");
        let hint = report.hint.unwrap();
        assert!(hint.contains("'--for'") && hint.ends_with("to list the options"), "{hint}");
    }
}
