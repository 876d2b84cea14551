//! Names of tools on endpoints that restrict them.
//!
//! A name that an endpoint refuses is replaced by one made from the name alone. So every turn,
//! declaration, call and result of a tool agrees on it. Replies get the old name back.

use super::decision::{Because, Decision, Did, Field};
use super::step::Step;
use crate::json::{NodeId, Str};
use crate::profile::{Profile, ToolNames};
use crate::transcript::{Part, Transcript};

/// Number of characters of the digest that ends a new name.
const DIGEST: usize = 8;

/// Returns a new name for a tool if its own is refused.
pub(crate) fn fitted(name: &str, rule: Option<&ToolNames>) -> Option<String> {
    let rule = rule?;
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || rule.others.contains(letter);
    let starts = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let starts_well = !rule.starts_with_letter || name.chars().next().is_none_or(starts);
    if name.is_empty() || (name.len() <= rule.most && name.chars().all(is_taken) && starts_well) {
        return None;
    }
    let digest = blake3::hash(name.as_bytes()).to_hex();
    let mut plain: String =
        name.chars().map(|letter| if is_taken(letter) { letter } else { '_' }).collect();
    if !starts_well {
        plain.insert(0, '_');
    }
    // Only ASCII is left, so every length is a character boundary.
    plain.truncate(rule.most.saturating_sub(DIGEST + 1));
    Some(format!("{plain}_{}", &digest.as_str()[..DIGEST]))
}

/// Gives calls and results the names that the endpoint takes.
pub(super) fn rename<'a>(
    transcript: &Transcript<'a>,
    profile: &Profile,
    steps: &mut [Step<'a>],
    decisions: &mut Vec<Decision>,
) {
    let rule = profile.settings.tool_names.as_ref();
    let mut rename = |name: &mut Str<'a>, node| {
        let Some(new) = fitted(&name.decode(), rule) else { return };
        let because = Because::Renamed(new.clone());
        let did = Did::ChangedField(Field { field: "name".to_owned(), because });
        let at = Option::map(node, |node| transcript.position_of(name_of(transcript, node), None));
        decisions.push(Decision { did, at, media: None });
        *name = Str::plain(new);
    };
    for part in steps.iter_mut().flat_map(|step| &mut step.message.parts) {
        match part {
            Part::Call(call) => rename(&mut call.name, call.node),
            Part::Result(result) => {
                if let Some(name) = &mut result.name {
                    rename(name, result.node);
                }
            }
            Part::Text(_)
            | Part::Media(_)
            | Part::TextWithMedia(_)
            | Part::Nested(_)
            | Part::Thinking(_)
            | Part::Mark(_)
            | Part::Refusal(_)
            | Part::Opaque(_) => {}
        }
    }
}

/// Returns the member of a call or result that holds the name, or the whole if it has none.
fn name_of(transcript: &Transcript<'_>, node: NodeId) -> NodeId {
    let value = transcript.doc.value(node);
    let direct = value.get("name").or_else(|| value.get("tool_name"));
    direct
        .or_else(|| value.entries().find_map(|(_, inner)| inner.get("name")))
        .map_or(node, |name| name.id())
}

/// Returns the tools of a request that have another name at an endpoint, each as new and old name.
///
/// A reply that is translated back must use the old names; give the list to
/// [`crate::reply::Reply::rename_calls`] or [`crate::Stream::renaming`].
///
/// ```
/// use photic::{Profile, Wire};
///
/// let body = br#"{"messages":[{"role":"user","content":"Look!"}],
///   "tools":[{"type":"function","function":{"name":"screen.shot"}}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let renamed = photic::renamed_tools(&transcript, &Profile::generic(Wire::Anthropic));
/// let (new, old) = &renamed[0];
/// assert_eq!(old, "screen.shot");
/// assert!(!new.contains('.'));
/// ```
pub fn renamed_tools(transcript: &Transcript<'_>, profile: &Profile) -> Vec<(String, String)> {
    let rule = profile.settings.tool_names.as_ref();
    let names = transcript.settings.functions().map(|tool| tool.name.decode().into_owned());
    names.filter_map(|old| Some((fitted(&old, rule)?, old))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_names_become_others_and_good_ones_stay() {
        let plain = ToolNames { most: 20, others: "_-".to_owned(), starts_with_letter: false };
        for good in ["shot", "a_b-C9", "9", "", "exactly-twenty-chars"] {
            assert_eq!(fitted(good, Some(&plain)), None, "{good}");
        }
        let other = fitted("a.b:c", Some(&plain)).unwrap();
        assert!(other.starts_with("a_b_c_") && other.len() == 14, "{other}");
        assert_ne!(fitted("a:b:c", Some(&plain)).unwrap(), other, "two tools stay two");
        let long = fitted("a name that is much too long", Some(&plain)).unwrap();
        assert_eq!((long.len(), fitted(&long, Some(&plain))), (20, None));
        assert_eq!(fitted("günstig", Some(&plain)).unwrap().split('_').count(), 3);
        let lettered = ToolNames { starts_with_letter: true, others: "_.:-".to_owned(), ..plain };
        assert_eq!(fitted("a.b:c", Some(&lettered)), None);
        assert!(fitted("9.b", Some(&lettered)).unwrap().starts_with("_9.b_"));
        assert_eq!(fitted("9.b/é", None), None);
    }
}
