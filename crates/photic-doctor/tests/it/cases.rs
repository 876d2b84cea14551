//! Causes of unusable sessions, taken from public bug reports.

use photic::Wire;
use photic_doctor::SessionFormat;
use photic_testkit::image::{self, broken};

use crate::sessions::{Picture, Step};

/// A sick session.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) steps: Vec<Step>,
    /// Only on the wire of Messages, whose limits these are.
    pub(crate) strict: bool,
}

/// Every kind of illness.
pub(crate) fn all(format: SessionFormat) -> Vec<Case> {
    let good: Picture = ("image/png", image::png(40, 40, [1, 2, 3]));
    // What is too long for one maker's models is nothing to another's.
    let long = if model(format) == "gpt-5.1" { (65_600, 1) } else { (8100, 40) };
    let around =
        |step: Step| vec![Step::Shows(vec![good.clone()]), step, Step::Returns(vec![good.clone()])];
    let one = |name, picture: Picture| {
        [
            Case {
                name,
                steps: around(Step::Shows(vec![good.clone(), picture.clone()])),
                strict: false,
            },
            Case {
                name,
                steps: around(Step::Returns(vec![picture.clone(), good.clone(), picture])),
                strict: false,
            },
        ]
    };
    let cut = image::png_noise(64, 64, 3);
    let mut cases: Vec<Case> = [
        one("a side too long", ("image/png", image::png(long.0, long.1, [9, 9, 9]))),
        one("a bitmap", ("image/bmp", image::bmp(40, 40, [9; 3]))),
        one("a drawing", ("image/svg+xml", image::svg(40, 40, [9; 3]))),
        one("cut off", ("image/png", cut[..cut.len() / 2].to_vec())),
        one("an error page", ("image/png", broken::html())),
        one("a pointer to a large file", ("image/png", broken::lfs_pointer())),
    ]
    .into_iter()
    .flatten()
    .collect();
    let [mut user, mut tool] = one("another type", ("image/png", image::jpeg()));
    (user.strict, tool.strict) = (true, true);
    cases.extend([user, tool]);
    let large: Picture = ("image/png", image::png(2100, 2, [7; 3]));
    let crowd = (0..22).map(|_| Step::Returns(vec![large.clone()])).collect();
    cases.push(Case { name: "large ones in a crowd", steps: crowd, strict: true });
    let many = (0..11).map(|_| Step::Returns(vec![good.clone(); 10])).collect();
    cases.push(Case { name: "too many", steps: many, strict: true });
    let many = (0..11).map(|_| Step::Shows(vec![good.clone(); 10])).collect();
    cases.push(Case { name: "too many attached", steps: many, strict: true });
    cases.retain(|case| is_for(case, format));
    cases
}

/// The model that a format is tried with.
pub(crate) const fn model(format: SessionFormat) -> &'static str {
    match format {
        SessionFormat::Codex | SessionFormat::Request(Wire::OpenAiChat | Wire::OpenAiResponses) => {
            "gpt-5.1"
        }
        SessionFormat::GeminiCli | SessionFormat::Request(Wire::Gemini) => "gemini-3-pro",
        SessionFormat::QwenCode => "qwen3-vl-plus",
        SessionFormat::Request(Wire::BedrockConverse) => {
            "anthropic.claude-sonnet-4-5-20250929-v1:0"
        }
        SessionFormat::Request(Wire::Ollama) => "qwen3-vl",
        _ => "claude-sonnet-4-5",
    }
}

/// Returns true if a case makes the endpoint of a format reject the session.
fn is_for(case: &Case, format: SessionFormat) -> bool {
    let lenient = match format {
        SessionFormat::Codex | SessionFormat::GeminiCli | SessionFormat::QwenCode => true,
        SessionFormat::Request(wire) => wire != Wire::Anthropic,
        SessionFormat::ClaudeCode
        | SessionFormat::Pi
        | SessionFormat::OpenCode
        | SessionFormat::Goose => false,
    };
    !(case.strict && lenient)
}
