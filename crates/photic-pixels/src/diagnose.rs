//! Derives lessons from a rejection, with a decoder.

use photic::Profile;
use photic::lesson::{Lesson, RejectedRequest};

use crate::view::{ViewRequest, view};

/// Returns the lessons of a rejection as [`photic::lesson::diagnose`] does. An image that cannot be
/// decoded is the one that the endpoint calls broken.
pub fn diagnose(request: &RejectedRequest<'_>) -> Vec<Lesson> {
    let profile = Profile::generic(request.wire);
    photic::lesson::diagnose(request, &|payload| {
        view(&payload.decode(), &ViewRequest::new(&profile)).is_err()
    })
}

#[cfg(test)]
mod tests {
    use photic::Wire;
    use photic::media::Payload;
    use photic::rejection::classify;

    use super::*;
    use crate::chart::Chart;

    #[test]
    fn the_image_that_cannot_be_decoded_is_the_broken_one() {
        let whole = Chart::of(7).png().unwrap();
        let cut = &whole[..whole.len() / 2];
        let part = |file: &[u8]| {
            let base64 = String::from_utf8(Payload::encode(file).base64().to_vec()).unwrap();
            format!(
                r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{base64}"}}}}"#
            )
        };
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":[{},{}]}}]}}"#,
            part(cut),
            part(&whole)
        );
        let rejection = classify(Some(400), "Could not process image");
        let wire = Wire::OpenAiChat;
        let request =
            RejectedRequest { rejection: &rejection, tries: 0, wire, body: body.as_bytes() };
        let lessons = diagnose(&request);
        let [Lesson::Quarantine { bytes, .. }] = &lessons[..] else { panic!("{lessons:?}") };
        assert_eq!(*bytes, cut.len() as u64);
    }
}
