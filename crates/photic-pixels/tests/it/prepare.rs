//! Plans carried out on real pictures.
#![expect(clippy::unwrap_used, reason = "a test that cannot make its pictures has failed")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic::{MediaId, Policy, Profile, Recipe, Wire};
use photic_pixels::encode::{EncodeOptions, encode};
use photic_pixels::{Layout, Raster, header, prepare};

/// A picture of one color.
fn picture(width: u32, height: u32, level: u8) -> String {
    let data = vec![level; width as usize * height as usize * 3];
    let raster = Raster { width, height, layout: Layout::Rgb, data };
    let options = EncodeOptions { accepts: &["image/png"], ..EncodeOptions::default() };
    let bytes = encode(&raster, &options).unwrap().bytes;
    STANDARD.encode(bytes)
}

fn uploads(pictures: &[String]) -> Vec<u8> {
    let parts: Vec<String> = pictures
        .iter()
        .map(|data| {
            format!(
                r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{data}"}}}}"#
            )
        })
        .collect();
    format!(r#"{{"messages":[{{"role":"user","content":[{}]}}]}}"#, parts.join(",")).into_bytes()
}

fn policy() -> Policy {
    let mut policy = Policy::default();
    policy.pixels = true;
    policy
}

/// The sizes of the pictures in a lowered body, in order.
fn lowered(body: &[u8], profile: &Profile) -> (String, Vec<(u32, u32)>) {
    let (transcript, _) = photic::lift(Wire::OpenAiChat, body);
    let plan = photic::plan(photic::survey(&transcript), profile, &policy());
    let prepared = prepare(&transcript, &plan);
    let out = photic::lower_prepared(&transcript, &plan, &prepared).body.to_vec();
    let (again, _) = photic::lift(Wire::OpenAiChat, &out);
    let sizes = again.media.iter().map(|media| media.header().size.unwrap()).collect();
    (String::from_utf8(out).unwrap(), sizes)
}

#[test]
fn what_is_past_a_limit_is_made_to_fit() {
    let mut profile = Profile::generic(Wire::OpenAiChat);
    profile.limits.edge = Some(600);
    let (_, sizes) = lowered(&uploads(&[picture(1200, 400, 9), picture(500, 100, 8)]), &profile);
    assert_eq!(sizes, [(600, 200), (500, 100)]);
}

#[test]
fn more_than_the_endpoint_takes_share_a_sheet() {
    let mut profile = Profile::generic(Wire::OpenAiChat);
    profile.limits.images = Some(2);
    let body = uploads(&[1, 60, 120, 180].map(|level| picture(300, 200, level)));
    let (text, sizes) = lowered(&body, &profile);
    // Three of them above one another, with gaps; the last is left alone.
    assert_eq!(sizes, [(300, 608), (300, 200)]);
    assert_eq!(text.matches("as cell 1 of a sheet").count(), 1);
    assert_eq!(text.matches("as cell 2 of a sheet").count(), 1);
    assert_eq!(lowered(&body, &profile).0, text, "not the same bytes again");
}

#[test]
fn what_cannot_be_made_is_said_not_to_be_shown() {
    let mut profile = Profile::generic(Wire::OpenAiChat);
    profile.limits.edge = Some(600);
    // A true header, and nothing behind it.
    let body = uploads(&[picture(1200, 400, 9)[..80].to_owned()]);
    let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
    let plan = photic::plan(photic::survey(&transcript), &profile, &policy());
    assert!(matches!(plan.recipes.get(&MediaId::new(0)), Some(Recipe::Fit(_))), "{:?}", plan.fates);
    let prepared = prepare(&transcript, &plan);
    assert!(prepared.is_empty());
    let out = photic::lower_prepared(&transcript, &plan, &prepared).body.to_vec();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("[image not shown (image/png, 1200x400)"), "{out}");
    assert!(!out.contains("base64"), "{out}");
}

#[test]
fn a_sheet_numbers_its_cells() {
    let white = STANDARD.decode(picture(200, 200, 255)).unwrap();
    let members = [white.clone(), white];
    let fit = photic::Fit { types: vec!["image/png".to_owned()], ..photic::Fit::default() };
    let profile = Profile::generic(Wire::OpenAiChat);
    let limits = photic_pixels::DecodeLimits::default();
    let made = photic_pixels::merged(&members, &fit, &profile, &limits).unwrap();
    assert!(photic_pixels::merged(&members, &photic::Fit::default(), &profile, &limits).is_err());
    let bytes = STANDARD.decode(&made.base64).unwrap();
    let header = header::probe(&bytes).unwrap();
    let wanted = photic_pixels::decode::DecodeOptions::default();
    let raster = photic_pixels::decode::decode(&bytes, &header, &limits, wanted).unwrap().raster;
    // Only the numbers are dark on a white picture; both cells have one.
    let half = raster.data.len() / 2;
    let dark = |part: &[u8]| part.iter().filter(|&&sample| sample < 50).count();
    let (first, second) = raster.data.split_at(half);
    assert!(dark(first) > 300 && dark(second) > 300, "{} {}", dark(first), dark(second));
}
