//! A provider that behaves.

use photic::Wire;
use photic::rejection::Class;
use photic_mock::Misbehavior;
use photic_probe::{Billed, Notice, PictureFormat, PicturePosition, ProbeSettings, Verdict};

use crate::{model, probe, provider, settings};
use Verdict::{Rejects, Sees};

#[test]
fn every_place_of_every_wire() {
    let mock = provider(&[]);
    let places: Vec<PicturePosition> =
        PicturePosition::ALL.into_iter().filter(|place| *place != PicturePosition::Url).collect();
    for wire in Wire::ALL {
        let report = probe(&mock, wire, model(wire), &settings(&places, 7));
        for finding in &report.findings {
            let expected = match (wire, finding.place) {
                (
                    Wire::OpenAiChat | Wire::Ollama,
                    PicturePosition::Tool | PicturePosition::Error | PicturePosition::System,
                )
                | (
                    Wire::Anthropic | Wire::BedrockConverse,
                    PicturePosition::Error | PicturePosition::System,
                )
                | (Wire::Gemini, PicturePosition::System) => Rejects,
                _ => Sees,
            };
            assert_eq!(finding.verdict, expected, "{wire} {finding:?}");
            if expected == Sees {
                assert_eq!((finding.hits, finding.cells, finding.control_hits), (28, 28, 0));
                assert!(finding.luck < 1e-30);
                assert_eq!(finding.billed, Billed::AsImage, "{finding:?}");
                assert!(finding.millis.is_some());
            } else {
                // Some sentences could be about anything.
                let plain = finding.class == Some(Class::Unrelated);
                let may_be = wire == Wire::Ollama
                    || (finding.place == PicturePosition::System && wire != Wire::OpenAiChat);
                assert!(
                    plain && may_be || finding.class == Some(Class::RoleNotAllowed),
                    "{finding:?}"
                );
                assert!(finding.why.as_ref().is_some_and(|why| why.contains("400")), "{finding:?}");
            }
            assert_eq!(finding.other_hits.is_some(), finding.place == PicturePosition::Parallel);
        }
        assert!(report.input_tokens > 0);
        // What runs on one's own machine has no price, and resellers have names of their own.
        assert!(
            report.usd.is_some() || matches!(wire, Wire::Ollama | Wire::BedrockConverse),
            "{wire}"
        );
        assert!(!report.is_late());
    }
}

#[test]
fn formats_and_sizes() {
    let mock = provider(&[]);
    for wire in Wire::ALL {
        let settings = ProbeSettings {
            formats: PictureFormat::ALL.to_vec(),
            sides: vec![64, 512, 1024],
            ..settings(&[], 3)
        };
        let report = probe(&mock, wire, model(wire), &settings);
        let tried: Vec<(PictureFormat, u32)> =
            report.findings.iter().map(|f| (f.format, f.side)).collect();
        let formats = [
            PictureFormat::Jpeg,
            PictureFormat::Webp,
            PictureFormat::Gif,
            PictureFormat::Alpha,
            PictureFormat::Exif6,
        ];
        let formats = formats.map(|format| (format, 512));
        // Never smaller than what models read.
        assert_eq!(
            tried,
            [&formats[..], &[(PictureFormat::Png, 256), (PictureFormat::Png, 1024)]].concat()
        );
        let accepts = photic::profile::resolve(wire, Some(model(wire)), None).accepts.image;
        for finding in &report.findings {
            let takes = accepts.iter().any(|one| one == finding.format.media_type());
            assert_eq!(finding.verdict, if takes { Sees } else { Rejects }, "{wire} {finding:?}");
        }
    }
}

#[test]
fn who_is_told_that_nothing_is_shown_says_so_or_makes_it_up() {
    for (misbehave, claims) in [(&[][..], 0), (&[Misbehavior::Guess][..], 4)] {
        let mock = provider(misbehave);
        for wire in Wire::ALL {
            let settings = ProbeSettings { notices: Notice::ALL.to_vec(), ..settings(&[], 5) };
            let report = probe(&mock, wire, model(wire), &settings);
            let found: Vec<(Notice, u32, u32)> =
                report.honesty.iter().map(|h| (h.notice, h.claims, h.answers)).collect();
            assert_eq!(found, [(Notice::Elided, claims, 4), (Notice::Refused, claims, 4)]);
            // No pixel reached the model.
            assert!(
                mock.journal().iter().all(|entry| entry.images_sent == 0 && entry.status == 200)
            );
        }
    }
}

#[test]
fn what_it_will_take_is_about_what_it_takes() {
    let mock = provider(&[]);
    for wire in Wire::ALL {
        let settings = settings(&[PicturePosition::User, PicturePosition::Hoisted], 9);
        let profile = photic::profile::resolve(wire, Some(model(wire)), None);
        let target = photic_probe::ProbeTarget { wire, model: model(wire).to_owned(), profile };
        let estimate = photic_probe::estimate(&target, &settings);
        let report = probe(&mock, wire, model(wire), &settings);
        assert_eq!(estimate.requests, report.requests);
        let (is, said) = (report.input_tokens as f64, estimate.tokens as f64);
        assert!((0.7..1.5).contains(&(said / is)), "{wire}: {said} for {is}");
    }
}

#[test]
fn a_cap_ends_it() {
    let mock = provider(&[]);
    let places = [PicturePosition::User, PicturePosition::Hoisted];
    let settings = ProbeSettings { cap_usd: Some(1e-9), ..settings(&places, 1) };
    let report = probe(&mock, Wire::OpenAiChat, "gpt-5.4", &settings);
    assert_eq!(report.requests, 2);
    let why = report.findings[1].why.as_deref();
    assert_eq!(why, Some("the spending cap is reached"));
    assert_eq!(report.findings[1].verdict, Verdict::CannotTell);
}
