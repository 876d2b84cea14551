//! Turns the report of a probe into lessons for gateways.
//!
//! Only proven results count: `weak` and `cannot tell` teach nothing, and a model that does not see
//! at all teaches nothing about positions or types.

use photic::profile::{MediaKind, Role};
use photic::rejection::Class;
use photic_gateway::learned::{Entry, Evidence, Identity, Lesson};
use photic_probe::{Billed, PictureFormat, PicturePosition, ProbeFinding, ProbeReport, Verdict};

/// The lessons of a report that was made at a time, in seconds since 1970.
pub(crate) fn lessons(report: &ProbeReport, at: u64) -> Vec<Entry> {
    let seen = report.findings.iter().any(|finding| finding.verdict == Verdict::Sees);
    let taught = report.findings.iter().flat_map(|finding| {
        let lessons = taught(report, finding, seen);
        lessons.into_iter().map(move |lesson| (lesson, finding))
    });
    let entry = |(lesson, finding): (Lesson, &ProbeFinding)| Entry {
        host: report.host.clone(),
        model: report.model.clone(),
        wire: Some(report.wire),
        lesson,
        teacher: Identity::Operator,
        evidence: Evidence::probed(at, &finding.evidence()),
    };
    taught.map(entry).collect()
}

/// The lessons of one finding.
fn taught(report: &ProbeReport, finding: &ProbeFinding, seen: bool) -> Vec<Lesson> {
    let of = MediaKind::Image;
    let mut lessons = Vec::new();
    if finding.billed == Billed::AsText && finding.verdict == Verdict::Sees {
        lessons.push(Lesson::BilledAsText { in_results: finding.place == PicturePosition::Tool });
    }
    let media_type = finding.format.media_type().to_owned();
    let lesson = match (finding.place, finding.format, finding.verdict) {
        (_, _, Verdict::Weak | Verdict::CannotTell) => None,
        (PicturePosition::User, PictureFormat::Png, Verdict::Sees) if is_usual(report, finding) => {
            Some(Lesson::Sees { of })
        }
        // A model that sees in another position is not blind.
        (PicturePosition::User, PictureFormat::Png, Verdict::Blind | Verdict::Rejects) => {
            (!seen).then_some(Lesson::Blind { of })
        }
        (
            PicturePosition::User,
            PictureFormat::Jpeg | PictureFormat::Webp | PictureFormat::Gif,
            Verdict::Sees,
        ) => Some(Lesson::TypeTaken { of, media_type }),
        (
            PicturePosition::User,
            PictureFormat::Jpeg | PictureFormat::Webp | PictureFormat::Gif,
            _,
        ) => seen.then_some(Lesson::TypeRefused { of, media_type }),
        (PicturePosition::Tool, _, Verdict::Sees) => Some(Lesson::ToolMedia { of }),
        (PicturePosition::Tool, _, _) => seen.then_some(Lesson::NoToolMedia { of }),
        (PicturePosition::Hoisted | PicturePosition::Parallel, _, Verdict::Rejects) => {
            (seen && finding.class == Some(Class::Order)).then_some(Lesson::Bridge)
        }
        (PicturePosition::Error, _, Verdict::Blind | Verdict::Rejects) => {
            seen.then_some(Lesson::ErrorText)
        }
        (PicturePosition::System, _, Verdict::Blind | Verdict::Rejects) => {
            seen.then_some(Lesson::RoleRefused { role: Role::System })
        }
        (PicturePosition::Url, _, Verdict::Blind | Verdict::Rejects) => {
            seen.then_some(Lesson::NoAddresses)
        }
        // Nothing that photic does depends on these results.
        (
            PicturePosition::User
            | PicturePosition::Hoisted
            | PicturePosition::Parallel
            | PicturePosition::Error
            | PicturePosition::System
            | PicturePosition::Previous
            | PicturePosition::Url,
            _,
            _,
        ) => None,
    };
    lessons.extend(lesson);
    lessons
}

/// Returns `true` for the finding about the default picture, not about another size.
fn is_usual(report: &ProbeReport, finding: &ProbeFinding) -> bool {
    report.at(PicturePosition::User) == Some(finding)
}

#[cfg(test)]
mod tests {
    use photic::Wire;

    use super::*;

    fn report(found: &[(PicturePosition, PictureFormat, Verdict)]) -> ProbeReport {
        let finding =
            |(place, format, verdict): &(PicturePosition, PictureFormat, Verdict)| ProbeFinding {
                place: *place,
                format: *format,
                side: 512,
                verdict: *verdict,
                why: None,
                class: None,
                hits: 28,
                cells: 28,
                luck: 1e-37,
                control_hits: 0,
                control_cells: 28,
                other_hits: None,
                billed: Billed::AsImage,
                billed_tokens: None,
                estimated_tokens: 300,
                millis: None,
            };
        ProbeReport {
            as_of: "2026-11-16".to_owned(),
            host: "h".to_owned(),
            model: "m".to_owned(),
            wire: Wire::OpenAiChat,
            seed: 1,
            findings: found.iter().map(finding).collect(),
            honesty: Vec::new(),
            requests: 0,
            input_tokens: 0,
            usd: None,
        }
    }

    fn learned(found: &[(PicturePosition, PictureFormat, Verdict)]) -> Vec<Lesson> {
        lessons(&report(found), 1).into_iter().map(|entry| entry.lesson).collect()
    }

    #[test]
    fn what_is_proved_is_learned_and_nothing_else() {
        use PictureFormat::{Gif, Png, Webp};
        use Verdict::{Blind, CannotTell, Rejects, Sees, Weak};
        let of = MediaKind::Image;
        assert_eq!(
            learned(&[(PicturePosition::User, Png, Sees), (PicturePosition::Tool, Png, Sees)]),
            [Lesson::Sees { of }, Lesson::ToolMedia { of }]
        );
        for no in [Blind, Rejects] {
            assert_eq!(
                learned(&[
                    (PicturePosition::User, Png, Sees),
                    (PicturePosition::Tool, Png, no),
                    (PicturePosition::Error, Png, no)
                ]),
                [Lesson::Sees { of }, Lesson::NoToolMedia { of }, Lesson::ErrorText]
            );
            assert_eq!(
                learned(&[(PicturePosition::User, Png, no), (PicturePosition::Tool, Png, no)]),
                [Lesson::Blind { of }]
            );
            let formats = [
                (PicturePosition::User, Png, Sees),
                (PicturePosition::User, Webp, no),
                (PicturePosition::User, Gif, Sees),
            ];
            let types = |lesson: &Lesson| match lesson {
                Lesson::TypeRefused { media_type, .. } => Some(("refused", media_type.clone())),
                Lesson::TypeTaken { media_type, .. } => Some(("taken", media_type.clone())),
                _ => None,
            };
            let types: Vec<_> = learned(&formats).iter().filter_map(types).collect();
            let expected =
                [("refused", "image/webp".to_owned()), ("taken", "image/gif".to_owned())];
            assert_eq!(types, expected);
        }
        for unclear in [Weak, CannotTell] {
            assert_eq!(
                learned(&[
                    (PicturePosition::User, Png, unclear),
                    (PicturePosition::Tool, Png, unclear)
                ]),
                []
            );
        }
        // Seeing a picture one turn late is not blindness.
        let late = [(PicturePosition::User, Png, Blind), (PicturePosition::Previous, Png, Sees)];
        assert_eq!(learned(&late), []);
    }

    #[test]
    fn the_evidence_is_the_count() {
        let entry =
            lessons(&report(&[(PicturePosition::User, PictureFormat::Png, Verdict::Sees)]), 1)
                .remove(0);
        assert_eq!(entry.evidence.said, "probe: user message sees, 28 of 28 named, 1e-37 by luck");
        assert_eq!(entry.wire, Some(Wire::OpenAiChat));
    }
}
