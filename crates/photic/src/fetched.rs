//! Bytes for media that came as addresses: lists the addresses that a host would have to fetch, and
//! puts in place what it fetched. Fetches nothing itself.
//!
//! Only addresses in slots for pictures and documents count; an address in the text of a tool is
//! text. Some of them name media of the host itself: `photic:` and a name that the host issued.
//! Such a name may take the place of an address, a file or the bytes.

use crate::json::Str;
use crate::media::{Found, MediaKind, Payload, REFERENCE, Source, is_reference, is_web_address};
use crate::plan::{Fate, Plan, Reason};
use crate::profile;
use crate::survey::Sighting;
use crate::transcript::{MediaId, Transcript};
use crate::wire::Wire;

/// The addresses to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Addresses that the endpoint cannot be given, because it has no slot for them.
    Unreachable,
    /// Those addresses, and all others whose media would be shown.
    All,
}

/// The result of fetching an address.
#[derive(Clone, Debug)]
pub enum FetchResult<'a> {
    /// The fetched bytes.
    Bytes(Payload<'a>),
    /// Nothing that can be shown, with the reason.
    Withheld(Reason),
}

/// Lists the web addresses that a host would have to fetch for a better plan, in order.
///
/// ```
/// use photic::{Policy, Profile, Wanted, Wire};
///
/// let body = br#"{"messages":[{"role":"user","content":[
///   {"type":"image_url","image_url":{"url":"https://a.example/p.png"}}]}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// let profile = Profile::generic(Wire::OpenAiChat);
/// let plan = photic::plan(photic::survey(&transcript), &profile, &Policy::default());
/// let wanted = photic::fetchable(&transcript, &plan, Wanted::All);
/// assert_eq!(wanted[0].1, "https://a.example/p.png");
/// ```
pub fn fetchable(
    transcript: &Transcript<'_>,
    plan: &Plan<'_>,
    wanted: Wanted,
) -> Vec<(MediaId, String)> {
    let sightings = plan.survey.sightings.iter();
    sightings
        .filter(|sighting| is_wanted(sighting, transcript.own_wire(), plan, wanted))
        .filter_map(|sighting| match &transcript.media[sighting.media].source {
            Source::Url(address) if is_web_address(address) => {
                Some((sighting.media, address.decode().into_owned()))
            }
            _ => None,
        })
        .collect()
}

/// Lists the media that came as names of media of the host ([`REFERENCE`]), with the names.
///
/// ```
/// use photic::Wire;
///
/// let body = br#"{"messages":[{"role":"user","content":[
///   {"type":"image_url","image_url":{"url":"photic:mr_0"}}]}]}"#;
/// let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
/// assert_eq!(photic::references(&transcript)[0].1, "mr_0");
/// ```
pub fn references(transcript: &Transcript<'_>) -> Vec<(MediaId, String)> {
    let each = MediaId::first(transcript.media.len()).zip(&transcript.media);
    let named = each.filter_map(|(id, media)| match &media.source {
        Source::Url(address) if is_reference(address) => {
            Some((id, address.decode()[REFERENCE.len()..].to_owned()))
        }
        _ => None,
    });
    named.collect()
}

impl<'a> Transcript<'a> {
    /// Returns the address that a medium came as, even if bytes have replaced it since.
    pub fn address(&self, id: MediaId) -> Option<Str<'a>> {
        let media = self.media.get(id.index())?;
        match &media.source {
            Source::Url(address) => Some(address.clone()),
            _ if media.found == Found::Fetched => self.doc.value(media.node).str(),
            _ => None,
        }
    }

    /// Puts what a host fetched in the place of an address. Plan again afterwards. Later bytes
    /// replace earlier ones, which may have been a placeholder. Does nothing to a medium that did
    /// not come as an address.
    pub fn put_fetched(&mut self, id: MediaId, result: FetchResult<'a>) {
        let Some(media) = self.media.get_mut(id.index()) else { return };
        if !matches!(media.source, Source::Url(_)) && media.found != Found::Fetched {
            return;
        }
        match result {
            FetchResult::Bytes(payload) => {
                media.source = Source::Data(payload);
                media.found = Found::Fetched;
            }
            FetchResult::Withheld(reason) => media.withheld = Some(reason),
        }
    }
}

fn is_wanted(sighting: &Sighting, from: Option<Wire>, plan: &Plan<'_>, wanted: Wanted) -> bool {
    if sighting.source != Some(profile::Source::Url) || sighting.found != Found::Typed {
        return false;
    }
    let fate = plan.fates[sighting.media];
    let to = plan.profile.wire;
    let no_slot = match sighting.kind {
        MediaKind::Image => fate == Fate::Refuse(Reason::SourceNotAccepted),
        MediaKind::Document => from != Some(to) && fate.is_shown() && !to.rules().document_urls,
        MediaKind::Audio => return false,
    };
    no_slot || (wanted == Wanted::All && fate.is_shown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Policy, Profile, lift, lower, plan, survey};

    const ADDRESS: &str = "https://a.example/p.png";

    fn png() -> Payload<'static> {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend_from_slice(&[0, 0, 5, 0, 0, 0, 3, 32, 8, 2, 0, 0, 0]);
        Payload::encode(&png)
    }

    fn profile(wire: Wire, urls: bool) -> Profile {
        let mut profile = Profile::generic(wire);
        profile.accepts.sources = vec![profile::Source::Data];
        profile.accepts.sources.extend(urls.then_some(profile::Source::Url));
        profile
    }

    fn bodies() -> [(Wire, String); 3] {
        [
            (
                Wire::OpenAiChat,
                format!(
                    "{{\"messages\":[{{\"role\":\"user\",\"content\":[{{\"type\":\"image_url\", \
                     \"image_url\":{{\"url\":\"{ADDRESS}\",\"detail\":\"low\"}},\"x\":1}}]}}]}}"
                ),
            ),
            (
                Wire::OpenAiResponses,
                format!(
                    "{{\"input\":[{{\"role\":\"user\",\"content\":[{{\"type\":\"input_image\", \
                     \"image_url\":\"{ADDRESS}\",\"x\":1}}]}}]}}"
                ),
            ),
            (
                Wire::Anthropic,
                format!(
                    "{{\"messages\":[{{\"role\":\"user\",\"content\":[{{\"type\":\"image\", \
                     \"source\":{{\"type\":\"url\",\"url\":\"{ADDRESS}\"}},\"x\":1}}]}}]}}"
                ),
            ),
        ]
    }

    /// Lowers with a fetch result. Returns the body and the names of the decisions.
    fn lowered(
        body: &str,
        from: Wire,
        to: Wire,
        result: FetchResult<'static>,
    ) -> (String, Vec<String>) {
        let (mut transcript, _) = lift(from, body.as_bytes());
        let profile = profile(to, false);
        let first = plan(survey(&transcript), &profile, &Policy::hands_off());
        let wanted = fetchable(&transcript, &first, Wanted::Unreachable);
        assert_eq!(wanted, [(MediaId::new(0), ADDRESS.to_owned())]);
        transcript.put_fetched(MediaId::new(0), result);
        let plan = plan(survey(&transcript), &profile, &Policy::hands_off());
        assert_eq!(fetchable(&transcript, &plan, Wanted::All), [], "asked for twice");
        let lowered = lower(&transcript, &plan);
        let did = lowered.decisions.iter().map(|decision| decision.did.name().to_owned());
        (String::from_utf8(lowered.body.to_vec()).unwrap(), did.collect())
    }

    #[test]
    fn bytes_stand_where_the_address_stood() {
        let base64 = String::from_utf8(png().base64().to_vec()).unwrap();
        for (from, body) in bodies() {
            for to in Wire::ALL {
                let (text, did) = lowered(&body, from, to, FetchResult::Bytes(png()));
                assert!(
                    text.contains(&base64) && !text.contains(ADDRESS),
                    "{from:?} {to:?} {text}"
                );
                assert!(did.contains(&"fetched".to_owned()), "{did:?}");
                // Everything else in the part stays.
                assert_eq!(text.contains("\"x\":1"), from == to, "{text}");
                let (again, _) = lift(to, text.as_bytes());
                assert_eq!(again.media[0].header().size, Some((1280, 800)), "{text}");
                assert_eq!(again.media[0].found, Found::Typed);
            }
        }
    }

    #[test]
    fn what_was_not_fetched_is_a_notice_that_says_why() {
        for (from, body) in bodies() {
            for to in Wire::ALL {
                let result = FetchResult::Withheld(Reason::FetchForbidden);
                let (text, did) = lowered(&body, from, to, result);
                let says =
                    "[image not shown: its address may not be fetched; you have not seen it]";
                assert!(text.contains(says) && !text.contains(ADDRESS), "{text}");
                assert!(did.contains(&"not_shown".to_owned()), "{did:?}");
            }
        }
    }

    #[test]
    fn an_endpoint_that_takes_addresses_is_left_to_fetch_them() {
        for (wire, body) in bodies() {
            let (transcript, _) = lift(wire, body.as_bytes());
            let profile = profile(wire, true);
            let plan = plan(survey(&transcript), &profile, &Policy::hands_off());
            assert_eq!(fetchable(&transcript, &plan, Wanted::Unreachable), []);
            assert_eq!(fetchable(&transcript, &plan, Wanted::All).len(), 1);
        }
    }

    #[test]
    fn only_addresses_of_the_web_in_slots_of_their_own_are_wanted() {
        let texts = [
            "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"https://a.example/p.png\"}",
            "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\
             \"[{\\\"type\\\":\\\"image_url\\\",\\\"image_url\\\":{\\\"url\\\":\\\"https://a.example/p.png\\\"}}]\"}",
            "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"gs://b/p.png\"}}]}",
            "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"file:///etc/passwd\"}}]}",
            "{\"role\":\"user\",\"content\":\"![](https://a.example/p.png)\"}",
        ];
        for text in texts {
            let body = format!(
                "{{\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}},{{\"role\":\"assistant\",\
                 \"tool_calls\":[{{\"id\":\"c\",\"type\":\"function\",\"function\":{{\"name\":\"f\",\
                 \"arguments\":\"{{}}\"}}}}]}},{text}]}}"
            );
            let (transcript, _) = lift(Wire::OpenAiChat, body.as_bytes());
            for urls in [false, true] {
                let profile = profile(Wire::OpenAiChat, urls);
                let plan = plan(survey(&transcript), &profile, &Policy::hands_off());
                assert_eq!(fetchable(&transcript, &plan, Wanted::All), [], "{text}");
            }
        }
    }

    #[test]
    fn documents_are_wanted_where_their_addresses_have_no_slot() {
        let body = "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"document\",\
             \"source\":{\"type\":\"url\",\"url\":\"https://a.example/d.pdf\"}}]}]}";
        let (mut transcript, _) = lift(Wire::Anthropic, body.as_bytes());
        let mut count = |to| {
            let profile = profile(to, false);
            let plan = plan(survey(&transcript), &profile, &Policy::hands_off());
            fetchable(&transcript, &plan, Wanted::Unreachable).len()
        };
        assert_eq!(Wire::ALL.map(&mut count), [1, 0, 0, 1, 1, 0], "{:?}", Wire::ALL);
        transcript.put_fetched(MediaId::new(0), FetchResult::Bytes(Payload::encode(b"%PDF-1.7\n")));
        let mut profile = profile(Wire::OpenAiChat, false);
        profile.accepts.document = vec!["application/pdf".to_owned()];
        let plan = plan(survey(&transcript), &profile, &Policy::hands_off());
        let text = String::from_utf8(lower(&transcript, &plan).body.to_vec()).unwrap();
        assert!(text.contains("data:application/pdf;base64,JVBERi0xLjcK"), "{text}");
    }

    /// Bodies that name a picture of the host, in every slot of every wire that takes a picture.
    fn by_name() -> Vec<(Wire, String)> {
        let chat =
            |part: &str| format!("{{\"messages\":[{{\"role\":\"user\",\"content\":[{part}]}}]}}");
        let name = "photic:mr_0";
        vec![
            (
                Wire::OpenAiChat,
                chat(&format!("{{\"type\":\"image_url\",\"image_url\":{{\"url\":\"{name}\"}}}}")),
            ),
            (
                Wire::OpenAiResponses,
                format!(
                    "{{\"input\":[{{\"role\":\"user\",\"content\":[{{\"type\":\"input_image\",\
                     \"image_url\":\"{name}\"}}]}}]}}"
                ),
            ),
            (
                Wire::Anthropic,
                chat(&format!(
                    "{{\"type\":\"image\",\"source\":{{\"type\":\"url\",\"url\":\"{name}\"}}}}"
                )),
            ),
            (
                Wire::Anthropic,
                chat(&format!(
                    "{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\
                     \"media_type\":\"image/png\",\"data\":\"{name}\"}}}}"
                )),
            ),
            (
                Wire::Anthropic,
                chat(&format!(
                    "{{\"type\":\"image\",\"source\":{{\"type\":\"file\",\"file_id\":\"{name}\"}}}}"
                )),
            ),
            (
                Wire::Gemini,
                format!(
                    "{{\"contents\":[{{\"role\":\"user\",\"parts\":[{{\"fileData\":\
                     {{\"mimeType\":\"image/png\",\"fileUri\":\"{name}\"}}}}]}}]}}"
                ),
            ),
            (
                Wire::Gemini,
                format!(
                    "{{\"contents\":[{{\"role\":\"user\",\"parts\":[{{\"inlineData\":\
                     {{\"mimeType\":\"image/png\",\"data\":\"{name}\"}}}}]}}]}}"
                ),
            ),
            (
                Wire::BedrockConverse,
                chat(&format!(
                    "{{\"image\":{{\"format\":\"png\",\"source\":{{\"bytes\":\"{name}\"}}}}}}"
                )),
            ),
            (
                Wire::Ollama,
                format!(
                    "{{\"messages\":[{{\"role\":\"user\",\"content\":\"look\",\
                     \"images\":[\"{name}\"]}}]}}"
                ),
            ),
        ]
    }

    #[test]
    fn what_the_host_has_stands_where_its_name_stood() {
        let base64 = String::from_utf8(png().base64().to_vec()).unwrap();
        for (from, body) in by_name() {
            for to in Wire::ALL {
                let (mut transcript, _) = lift(from, body.as_bytes());
                assert_eq!(
                    references(&transcript),
                    [(MediaId::new(0), "mr_0".to_owned())],
                    "{from:?} {body}"
                );
                // First a placeholder, then the picture.
                transcript
                    .put_fetched(MediaId::new(0), FetchResult::Bytes(Payload::encode(b"\x89PNG")));
                transcript.put_fetched(MediaId::new(0), FetchResult::Bytes(png()));
                assert_eq!(references(&transcript), []);
                assert_eq!(transcript.address(MediaId::new(0)).unwrap().decode(), "photic:mr_0");
                let profile = profile(to, true);
                let plan = plan(survey(&transcript), &profile, &Policy::hands_off());
                let text = String::from_utf8(lower(&transcript, &plan).body.to_vec()).unwrap();
                assert!(
                    text.contains(&base64) && !text.contains("photic:"),
                    "{from:?} {to:?} {text}"
                );
                let (again, findings) = lift(to, text.as_bytes());
                assert_eq!(again.media[0].header().size, Some((1280, 800)), "{text}");
                assert_eq!(again.media[0].found, Found::Typed, "{findings:?} {text}");
            }
        }
    }

    #[test]
    fn a_name_that_leads_nowhere_is_a_notice() {
        for (from, body) in by_name() {
            for to in Wire::ALL {
                let (mut transcript, _) = lift(from, body.as_bytes());
                transcript.put_fetched(MediaId::new(0), FetchResult::Withheld(Reason::FetchFailed));
                let profile = profile(to, true);
                let plan = plan(survey(&transcript), &profile, &Policy::hands_off());
                let text = String::from_utf8(lower(&transcript, &plan).body.to_vec()).unwrap();
                let says = "[image not shown: it could not be fetched from its address";
                assert!(text.contains(says) && !text.contains("photic:"), "{from:?} {text}");
            }
        }
    }

    #[test]
    fn what_came_as_bytes_is_not_replaced() {
        let body = format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":[{{\"type\":\"image_url\",\"image_url\":\
             {{\"url\":\"data:image/png;base64,{}\"}}}}]}}]}}",
            String::from_utf8_lossy(png().base64())
        );
        let (mut transcript, _) = lift(Wire::OpenAiChat, body.as_bytes());
        transcript.put_fetched(MediaId::new(0), FetchResult::Withheld(Reason::FetchFailed));
        transcript.put_fetched(MediaId::new(7), FetchResult::Withheld(Reason::FetchFailed));
        assert_eq!((transcript.media[0].withheld, transcript.media[0].found), (None, Found::Typed));
    }
}
