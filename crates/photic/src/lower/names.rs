//! Names of tools on endpoints that restrict them, and on wires without groups of tools.
//!
//! A name that an endpoint refuses is replaced by one made from the name alone, and a tool of a
//! group gets the name of its group in front. So every turn, declaration, call and result of a
//! tool agrees on it. Replies get the old name back.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::{Because, Decision, Did, Field};
use super::step::Step;
use crate::json::{NodeId, Str};
use crate::profile::{Profile, ToolNames};
use crate::transcript::{Part, Transcript};

/// Number of characters of the digest that ends a new name.
const DIGEST: usize = 8;
/// The characters between the name of a group and the name of a tool in it.
pub(crate) const SEPARATOR: &str = "__";

/// A tool that an endpoint knows by another name, or in another form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenamedTool {
    /// The name that the endpoint knows it by.
    pub sent: String,
    /// Its own name.
    pub name: String,
    /// The group that it belongs to.
    pub namespace: Option<String>,
    /// `true` if it takes free text. The endpoint knows it as a function with one argument,
    /// `input`.
    pub free_text: bool,
}

/// The names by which an endpoint knows the tools of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentNames {
    rule: Option<ToolNames>,
    /// The names of the offered tools, by group and own name.
    offered: BTreeMap<(String, String), String>,
}

impl SentNames {
    /// Returns the names for an endpoint that knows every tool by its own name.
    pub(crate) const fn unchanged() -> Self {
        Self { rule: None, offered: BTreeMap::new() }
    }

    /// Chooses the names of the offered tools. No two tools share one.
    pub(crate) fn of(transcript: &Transcript<'_>, profile: &Profile) -> Self {
        let rule = profile.settings.tool_names.clone();
        let mut names = Self { rule, offered: BTreeMap::new() };
        let mut taken = BTreeSet::new();
        let (plain, grouped): (Vec<_>, Vec<_>) =
            transcript.settings.functions().partition(|tool| tool.namespace.is_none());
        // Tools without a group come first: nothing takes their names.
        for tool in plain.into_iter().chain(grouped) {
            let key = key(tool.namespace.as_ref(), &tool.name);
            if names.offered.contains_key(&key) {
                continue;
            }
            let mut sent = names.made(&key);
            if !taken.insert(sent.clone()) {
                sent = ended(sent, &format!("{}\0{}", key.0, key.1), names.rule.as_ref());
                taken.insert(sent.clone());
            }
            names.offered.insert(key, sent);
        }
        names
    }

    /// Returns the name by which the endpoint knows a tool, if it is not the tool's own.
    pub(crate) fn sent(&self, namespace: Option<&Str<'_>>, name: &Str<'_>) -> Option<String> {
        let key = key(namespace, name);
        let sent = self.offered.get(&key).or_else(|| self.only(&key)).cloned();
        let sent = sent.unwrap_or_else(|| self.made(&key));
        (sent != key.1).then_some(sent)
    }

    /// Returns the name of the only offered tool of that own name, for a call that states no
    /// group.
    fn only(&self, (namespace, name): &(String, String)) -> Option<&String> {
        let mut alike = self.offered.iter().filter(|((_, own), _)| own == name);
        let (_, sent) = alike.next().filter(|_| namespace.is_empty())?;
        alike.next().is_none().then_some(sent)
    }

    fn made(&self, (namespace, name): &(String, String)) -> String {
        let joined = match namespace.as_str() {
            "" => name.clone(),
            group if group.ends_with(SEPARATOR) => format!("{group}{name}"),
            group => format!("{group}{SEPARATOR}{name}"),
        };
        fitted(&joined, self.rule.as_ref()).unwrap_or(joined)
    }
}

fn key(namespace: Option<&Str<'_>>, name: &Str<'_>) -> (String, String) {
    let group = namespace.map(|group| group.decode().into_owned()).unwrap_or_default();
    (group, name.decode().into_owned())
}

/// Returns a new name for a tool if its own is refused.
fn fitted(name: &str, rule: Option<&ToolNames>) -> Option<String> {
    let rule = rule?;
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || rule.others.contains(letter);
    let starts = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let starts_well = !rule.starts_with_letter || name.chars().next().is_none_or(starts);
    if name.is_empty() || (name.len() <= rule.most && name.chars().all(is_taken) && starts_well) {
        return None;
    }
    let mut plain: String =
        name.chars().map(|letter| if is_taken(letter) { letter } else { '_' }).collect();
    if !starts_well {
        plain.insert(0, '_');
    }
    Some(ended(plain, name, Some(rule)))
}

/// Returns a name that ends with a digest, no longer than the endpoint takes.
fn ended(mut name: String, digested: &str, rule: Option<&ToolNames>) -> String {
    let digest = blake3::hash(digested.as_bytes()).to_hex();
    if let Some(rule) = rule {
        // Only ASCII is left, so every length is a character boundary.
        name.truncate(rule.most.saturating_sub(DIGEST + 1));
    }
    format!("{name}_{}", &digest.as_str()[..DIGEST])
}

/// Gives calls and results the names that the endpoint takes.
pub(super) fn rename<'a>(
    transcript: &Transcript<'a>,
    names: &SentNames,
    steps: &mut [Step<'a>],
    decisions: &mut Vec<Decision>,
) {
    let mut note = |field: &str, new: &str, node: Option<NodeId>| {
        let because = Because::Renamed(new.to_owned());
        let did = Did::ChangedField(Field { field: field.to_owned(), because });
        let at = node.map(|node| transcript.position_of(node, None));
        decisions.push(Decision { did, at, media: None });
    };
    // The names of calls, for the results that answer them.
    let mut called: BTreeMap<String, String> = BTreeMap::new();
    for part in steps.iter_mut().flat_map(|step| &mut step.message.parts) {
        match part {
            Part::Call(call) => {
                let Some(new) = names.sent(call.namespace.as_ref(), &call.name) else { continue };
                note("name", &new, call.node.map(|node| name_of(transcript, node).unwrap_or(node)));
                if call.namespace.take().is_some() {
                    let group = |node| transcript.doc.value(node).get("namespace");
                    note("namespace", &new, call.node.and_then(group).map(|group| group.id()));
                }
                called.insert(call.id.decode().into_owned(), new.clone());
                call.name = Str::plain(new);
            }
            Part::Result(result) => {
                let Some(name) = &mut result.name else { continue };
                let call = called.get(&*result.call_id.decode()).cloned();
                let Some(new) = call.or_else(|| names.sent(None, name)) else { continue };
                note("name", &new, result.node.and_then(|node| name_of(transcript, node)));
                *name = Str::plain(new);
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

/// Returns the member of a call or result that holds the name.
fn name_of(transcript: &Transcript<'_>, node: NodeId) -> Option<NodeId> {
    let value = transcript.doc.value(node);
    let direct = value.get("name").or_else(|| value.get("tool_name"));
    let inner = || value.entries().find_map(|(_, inner)| inner.get("name"));
    direct.or_else(inner).map(|name| name.id())
}

/// Returns the tools of a request that an endpoint knows by another name, or in another form.
///
/// A reply that is translated back must use the tools' own names and forms; give the list to
/// [`crate::reply::Reply::rename_calls`] or [`crate::Stream::renaming`].
///
/// ```
/// use photic::{Profile, Wire};
///
/// let body = br#"{"messages":[{"role":"user","content":"Look!"}],
///   "tools":[{"type":"function","function":{"name":"screen.shot"}}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let renamed = photic::renamed_tools(&transcript, &Profile::generic(Wire::Anthropic));
/// assert_eq!(renamed[0].name, "screen.shot");
/// assert!(!renamed[0].sent.contains('.'));
/// ```
pub fn renamed_tools(transcript: &Transcript<'_>, profile: &Profile) -> Vec<RenamedTool> {
    let names = SentNames::of(transcript, profile);
    let tools = transcript.settings.functions().filter_map(|tool| {
        let sent = names.sent(tool.namespace.as_ref(), &tool.name);
        (sent.is_some() || tool.free_text).then(|| RenamedTool {
            sent: sent.unwrap_or_else(|| tool.name.decode().into_owned()),
            name: tool.name.decode().into_owned(),
            namespace: tool.namespace.as_ref().map(|group| group.decode().into_owned()),
            free_text: tool.free_text,
        })
    });
    tools.collect()
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
