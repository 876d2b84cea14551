//! Lessons of a rejection, applied to the profile and the policy of one request. Nothing is
//! remembered between requests; the gateway does that.

use photic::lesson::{Lesson, RejectedRequest};
use photic::media::Source;
use photic::rejection::{Class, Said, classify_own_words};
use photic::{Choice, Policy, Profile};

/// An error that a provider answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The status of the answer.
    pub status: u16,
    /// Its body.
    pub text: String,
}

/// Applies what an error says about the body that was sent. An error that is not about media, or
/// that only quotes the request, changes nothing.
pub(crate) fn tighten(
    profile: &mut Profile,
    policy: &mut Policy,
    sent: &[u8],
    rejected: &Rejected,
    tries: usize,
) {
    let said = [Said::Json(sent)];
    let rejection = classify_own_words(Some(rejected.status), &rejected.text, &said);
    let wire = profile.wire;
    let mut lessons = if rejection.class == Class::FetchFailed {
        // There is no digest of what was not fetched, so no URL is sent again.
        vec![Lesson::NoAddresses]
    } else {
        photic_pixels::diagnose(&RejectedRequest { rejection: &rejection, tries, wire, body: sent })
    };
    lessons.sort();
    for lesson in &lessons {
        lesson.apply(profile);
    }
    drop_refused(policy, profile, sent, &lessons);
}

/// Drops the media that the lessons put in quarantine.
fn drop_refused(policy: &mut Policy, profile: &Profile, sent: &[u8], lessons: &[Lesson]) {
    let (transcript, _) = photic::lift(profile.wire, sent);
    for media in &transcript.media {
        let Source::Data(payload) = &media.source else { continue };
        if Lesson::quarantine(&media.source).is_some_and(|lesson| lessons.contains(&lesson)) {
            policy.choices.insert(payload.digest(), Choice::Drop);
        }
    }
}
