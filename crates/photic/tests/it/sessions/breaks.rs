//! Every shipped profile: when something is retired, and how often the prefix breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use photic::profile::{self, Capability, ConsecutiveUser, Placement};
use photic::retention::Retention;
use photic::{Policy, Profile, Wire};
use serde_json::value::RawValue;

use super::{Sender, Session, render};

/// The prefix may break in one turn of so many.
const RARELY: usize = 8;

/// A session that was played to its end.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// The turns whose request does not begin with the one before.
    pub(super) breaks: Vec<usize>,
    /// The first turn in which a limit of the endpoint would be exceeded if nothing was retired.
    pub(super) met: Option<usize>,
    /// The first turn in which something is retired.
    pub(super) retired: Option<usize>,
    /// Pictures in sight at the end.
    pub(super) shown: usize,
}

/// Plays a session on an endpoint of its own wire.
pub(super) fn play(session: &Session, profile: &Profile, policy: &Policy) -> Played {
    let mut boundless = profile.clone();
    boundless.limits = profile::Limits::default();
    let mut played = Played::default();
    let mut before: Option<Vec<String>> = None;
    for turn in 1..=session.pictures.len() {
        let body = render::body(session, turn);
        let (transcript, _) = photic::lift(session.wire, &body);
        let survey = photic::survey(&transcript);
        let all = photic::plan(survey.clone(), &boundless, policy);
        let limits = &profile.limits;
        let over = |most: Option<u64>, is: u64| most.is_some_and(|most| is > most);
        let doubt = all.ledger.most_image_tokens - all.ledger.image_tokens;
        if over(limits.images.map(u64::from), all.ledger.images as u64)
            || over(limits.context_tokens, all.ledger.tokens + doubt)
            || over(limits.request_bytes, photic::lower(&transcript, &all).body.len() as u64)
        {
            played.met.get_or_insert(turn);
        }
        let plan = photic::plan(survey, profile, policy);
        let lowered = photic::lower(&transcript, &plan);
        if !plan.retired(&lowered.retired).is_empty() {
            played.retired.get_or_insert(turn);
        }
        played.shown = plan.ledger.images - lowered.retired.len();
        let written = lowered.body.to_vec();
        let messages = messages(profile.wire, &written);
        if before.is_some_and(|before| breaks(&before, &messages, profile)) {
            played.breaks.push(turn);
        }
        before = Some(messages);
    }
    played
}

/// Whether a request does not begin with the one before it.
fn breaks(before: &[String], after: &[String], profile: &Profile) -> bool {
    let same = before.iter().zip(after).take_while(|(before, after)| before == after).count();
    // Merged into one, the last message of a turn grows in the next.
    let merges = profile.quirks.consecutive_user == ConsecutiveUser::Merge;
    same + usize::from(merges) < before.len()
}

fn messages(wire: Wire, body: &[u8]) -> Vec<String> {
    let mut body: BTreeMap<&str, &RawValue> = serde_json::from_slice(body).unwrap();
    let list = body.remove(render::list(wire)).unwrap();
    let list: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap();
    list.into_iter().map(|message| message.get().to_owned()).collect()
}

/// The fewest turns that must break the prefix where a request holds so many pictures: whenever no
/// more fit, everything but what this turn brought is retired.
pub(super) fn fewest(pictures: &[usize], most: Option<usize>) -> usize {
    let Some(most) = most else { return 0 };
    let (mut shown, mut breaks) = (0, 0);
    for &count in pictures {
        if shown > 0 && shown + count > most {
            (shown, breaks) = (count, breaks + 1);
        } else {
            shown += count;
        }
    }
    breaks
}

/// Every shipped profile of a wire that shows pictures, those alike but once.
fn profiles(wire: Wire) -> Vec<Profile> {
    let mut known = BTreeSet::new();
    let mut profiles: Vec<Profile> = profile::shipped().to_vec();
    profiles.push(Profile::generic(wire));
    profiles.retain(|profile| {
        let sees = profile.sight.images != Capability::No
            && profile.placement.image != Placement::TextOnly;
        let alike = format!(
            "{:?} {:?} {:?} {:?} {:?}",
            profile.limits, profile.cache, profile.tokens, profile.placement, profile.quirks
        );
        profile.wire == wire && sees && known.insert(alike)
    });
    profiles
}

fn policy(retention: Retention) -> Policy {
    let mut policy = Policy::default();
    policy.retention = retention;
    policy
}

/// Plays a session on every profile of its wire and says how often the prefix broke.
fn everywhere(session: &Session) {
    let turns = session.pictures.len();
    let profiles = profiles(session.wire);
    assert!(!profiles.is_empty());
    for profile in &profiles {
        let most = profile.limits.images.map(|most| most as usize);
        let possible = fewest(&session.pictures, most);
        for retention in [Retention::default(), Retention::Priced] {
            let played = play(session, profile, &policy(retention));
            let allowed = (turns / RARELY).max(possible);
            let at = format!(
                "{} {:?} {retention}: {turns} turns, {} breaks at {:?}; limit met in {:?}",
                profile.id,
                session.sender,
                played.breaks.len(),
                played.breaks,
                played.met
            );
            if possible > turns / RARELY {
                println!("{at}; {most:?} pictures a request: fewer than {possible} is impossible");
            } else {
                println!("{at}");
            }
            assert!(played.breaks.len() <= allowed, "{at}: more than {allowed}");
            if retention == Retention::All {
                let early =
                    played.retired.is_some_and(|turn| played.met.is_none_or(|met| turn < met));
                assert!(!early, "{at}: retired in turn {:?}", played.retired);
                let total: usize = session.pictures.iter().sum();
                assert!(played.met.is_some() || played.shown == total, "{at}: {}", played.shown);
                assert!(played.met.is_some() || played.breaks.is_empty(), "{at}");
            }
        }
    }
}

macro_rules! sessions {
    ($($name:ident: $wire:ident;)+) => {$(
        mod $name {
            use super::{Sender, Session, Wire, everywhere};

            #[test]
            fn sixty_turns_with_a_screenshot_each() {
                everywhere(&Session::sixty(Wire::$wire, Sender::Tool));
            }

            #[test]
            fn forty_turns_with_one_to_four() {
                everywhere(&Session::forty(Wire::$wire, Sender::Tool));
            }

            #[test]
            fn sixty_turns_with_an_attachment_each() {
                everywhere(&Session::sixty(Wire::$wire, Sender::Person));
            }
        }
    )+};
}

sessions! {
    chat: OpenAiChat;
    responses: OpenAiResponses;
    anthropic: Anthropic;
    gemini: Gemini;
    bedrock_converse: BedrockConverse;
    ollama: Ollama;
}

#[test]
fn the_fewest_breaks_are_found() {
    assert_eq!(fewest(&[1; 60], None), 0);
    assert_eq!(fewest(&[1; 60], Some(8)), 7);
    assert_eq!(fewest(&[1; 60], Some(5)), 11);
    assert_eq!(fewest(&[1; 60], Some(1)), 59);
    assert_eq!(fewest(&[3, 1, 4], Some(4)), 1);
}

/// The table of `docs/retention.md`: how often the prefix breaks at the least where an endpoint
/// takes few images. `PHOTIC_BLESS=1` writes it anew.
#[test]
fn the_page_says_what_few_images_cost() {
    let mut limits: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for profile in profile::shipped() {
        if let Some(most) = profile.limits.images {
            let id = profile.id.split('@').next().unwrap_or_default();
            limits.entry(most as usize).or_default().insert(id);
        }
    }
    let shapes = [
        Session::sixty(Wire::OpenAiChat, Sender::Tool).pictures,
        Session::forty(Wire::OpenAiChat, Sender::Tool).pictures,
    ];
    let mut table = String::from(
        "| images a request | profiles | of 60 turns with one each | of 40 turns with one to four |\n|---|---|---|---|\n",
    );
    for (most, ids) in limits {
        let breaks = shapes.each_ref().map(|shape| fewest(shape, Some(most)));
        let is_few = shapes.iter().zip(breaks).any(|(shape, breaks)| breaks > shape.len() / RARELY);
        if is_few {
            let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
            let [sixty, forty] = breaks;
            writeln!(table, "| {most} | {} | {sixty} | {forty} |", ids.join(", ")).unwrap();
        }
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/retention.md");
    let kept = std::fs::read_to_string(&path).unwrap();
    let (start, end) = ("<!-- few -->\n", "<!-- end of few -->");
    let from = kept.find(start).unwrap() + start.len();
    let mut page = kept.clone();
    page.replace_range(from..kept.find(end).unwrap(), &table);
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        std::fs::write(path, page).unwrap();
    } else {
        assert!(kept == page, "docs/retention.md is out of date: run with PHOTIC_BLESS=1");
    }
}
