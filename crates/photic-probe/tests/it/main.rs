//! The probe against the strict provider, which is honest, or is not.
#![expect(clippy::unwrap_used, reason = "a test whose stage does not stand has failed")]
#![expect(clippy::print_stdout, reason = "minutes are long without a word")]

mod eyes;
mod misbehaving;
mod strict;

use photic::Wire;
use photic::wire::BaseVersion;
use photic_mock::{Misbehavior, Mock, Options};
use photic_net::{Client, Timeouts};
use photic_probe::{Endpoint, PicturePosition, ProbeReport, ProbeSettings, ProbeTarget, Verdict};

/// A model on each wire, by whose rules the provider judges.
pub(crate) const fn model(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "claude-sonnet-5",
        Wire::Gemini => "gemini-3.1-pro-preview",
        Wire::BedrockConverse => "anthropic.claude-sonnet-4-5-20250929-v1:0",
        Wire::Ollama => "qwen3-vl:8b",
        _ => "gpt-5.4",
    }
}

pub(crate) fn provider(misbehave: &[Misbehavior]) -> Mock {
    Mock::start(Options { misbehave: misbehave.to_vec(), ..Options::default() }).unwrap()
}

/// Probes a provider.
pub(crate) fn probe(mock: &Mock, wire: Wire, model: &str, settings: &ProbeSettings) -> ProbeReport {
    let target = ProbeTarget {
        wire,
        model: model.to_owned(),
        profile: photic::profile::resolve(wire, Some(model), None),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let endpoint = Endpoint {
            wire,
            base_url: match wire.http().base {
                BaseVersion::Part(version) => format!("{}{version}", mock.url()),
                BaseVersion::Optional(_) | BaseVersion::None => mock.url(),
            },
            model: model.to_owned(),
            key: Some("k".to_owned()),
            client: Client::new(Timeouts::default()),
        };
        let ask = async |body| endpoint.ask(body).await;
        photic_probe::run(&target, settings, None, ask, |_| {}).await.unwrap()
    })
}

pub(crate) fn settings(places: &[PicturePosition], seed: u64) -> ProbeSettings {
    ProbeSettings { places: places.to_vec(), seed, attempts: 1, ..ProbeSettings::default() }
}

pub(crate) fn verdicts(report: &ProbeReport) -> Vec<Verdict> {
    report.findings.iter().map(|finding| finding.verdict).collect()
}
