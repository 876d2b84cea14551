//! Each limit by itself: whichever is met, what gives way goes in batches.

use photic::profile::{self, Crowd};
use photic::retention::Retention;
use photic::{Policy, Profile, Wire};

use super::breaks::{fewest, play};
use super::{Sender, Session};

/// An endpoint without any limit.
fn boundless(wire: Wire) -> Profile {
    let mut profile = Profile::generic(wire);
    profile.limits = profile::Limits::default();
    profile
}

/// Sixty turns under a limit that about `fit` pictures meet.
#[track_caller]
fn rarely(session: &Session, profile: &Profile, policy: &Policy, fit: usize) {
    for retention in [Retention::All, Retention::Priced] {
        let policy = {
            let mut policy = policy.clone();
            policy.retention = retention;
            policy
        };
        let played = play(session, profile, &policy);
        let most = (session.pictures.len() / 8).max(fewest(&session.pictures, Some(fit)));
        let at = format!("{} {retention}: {:?}, {most} allowed", session.wire, played.breaks);
        println!("{at}");
        assert!(!played.breaks.is_empty(), "the limit was never met: {at}");
        assert!(played.breaks.len() <= most, "{at}");
        assert!(played.shown > 0, "{at}");
    }
}

/// The tokens of one picture on an endpoint.
fn tokens(profile: &Profile, session: &Session) -> u64 {
    profile.most_image_tokens(session.size.0, session.size.1, None)
}

#[test]
fn bytes_of_the_body() {
    for wire in Wire::ALL {
        for sender in [Sender::Tool, Sender::Person] {
            let mut session = Session::sixty(wire, sender);
            session.weight = 6_000;
            let mut profile = boundless(wire);
            // Words take some of it, more and more.
            profile.limits.request_bytes = Some(30 * 8_200);
            rarely(&session, &profile, &Policy::default(), 20);
        }
    }
}

#[test]
fn tokens_of_the_context() {
    for wire in Wire::ALL {
        let session = Session::sixty(wire, Sender::Tool);
        let mut profile = boundless(wire);
        profile.limits.context_tokens = Some(20 * tokens(&profile, &session) + 8_000);
        rarely(&session, &profile, &Policy::default(), 16);
    }
}

#[test]
fn tokens_of_images_that_the_host_allows() {
    for wire in Wire::ALL {
        for sender in [Sender::Tool, Sender::Person] {
            let session = Session::sixty(wire, sender);
            let profile = boundless(wire);
            let mut policy = Policy::default();
            policy.room.image_tokens = Some(20 * tokens(&profile, &session));
            rarely(&session, &profile, &policy, 20);
        }
    }
}

#[test]
fn a_crowd_of_large_pictures() {
    for wire in Wire::ALL {
        for sender in [Sender::Tool, Sender::Person] {
            let mut session = Session::sixty(wire, sender);
            session.size = (2001, 1200);
            let mut profile = boundless(wire);
            profile.limits.crowd = Some(Crowd { above: 20, edge: 2000, counts_documents: false });
            rarely(&session, &profile, &Policy::default(), 20);
        }
    }
}
