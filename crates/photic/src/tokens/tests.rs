//! Every published or derived vector, and the bounds no formula may break.

use serde::Deserialize;

use super::{Detail, Rule, Seen, text_tokens};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    rule: Vec<Column>,
}

/// One rule and the images it was checked with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    name: String,
    #[serde(rename = "source")]
    _source: String,
    tokens: Rule,
    #[serde(default)]
    detail: Option<Detail>,
    images: Vec<Image>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Image {
    size: [u32; 2],
    #[serde(default)]
    seen: Option<[u32; 2]>,
    #[serde(default)]
    tokens: Option<u64>,
    /// Maximum tokens, if they differ from `tokens`.
    #[serde(default)]
    most: Option<u64>,
}

fn vectors() -> Vec<Column> {
    let text = include_str!("../../tests/data/token_vectors.toml");
    toml::from_str::<Vectors>(text).expect("token vectors parse").rule
}

#[test]
fn golden_vectors_hold() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for column in vectors() {
        for image in &column.images {
            let [width, height] = image.size;
            let seen = column.tokens.seen(width, height, column.detail);
            checked += 1;
            let size_ok = image.seen.is_none_or(|size| size == [seen.width, seen.height]);
            let most = column.tokens.most_tokens(width, height, column.detail);
            let most_ok = most == image.most.unwrap_or(seen.tokens);
            if !size_ok || !most_ok || image.tokens.is_some_and(|tokens| tokens != seen.tokens) {
                wrong.push(format!("{}: {width}x{height} gave {seen:?}, {most}", column.name));
            }
            assert!(image.seen.is_some() || image.tokens.is_some(), "a vector that checks nothing");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked >= 230, "only {checked} vectors read");
}

#[test]
fn no_size_panics_is_free_or_grows() {
    let sides = [0, 1, 2, 27, 28, 29, 512, 1568, 1569, 8001, 65_535, 1_000_000, u32::MAX];
    for column in vectors() {
        for &width in &sides {
            for &height in &sides {
                for detail in [None, Some(Detail::Low), Some(Detail::Original)] {
                    let seen = column.tokens.seen(width, height, detail);
                    assert!(seen.tokens > 0, "{} {width}x{height}", column.name);
                    assert!((1..=width.max(1)).contains(&seen.width), "{} {seen:?}", column.name);
                    assert!((1..=height.max(1)).contains(&seen.height), "{} {seen:?}", column.name);
                }
            }
        }
    }
}

#[test]
fn what_was_resized_is_left_alone() {
    let sizes =
        [(3840, 2160), (2160, 3840), (6000, 4000), (9000, 17), (2577, 2577), (300, 300), (31, 900)];
    for rule in [
        Rule::Cells28 { max_edge: 2576, max_tokens: 4784 },
        Rule::SmartResize { factor: 28, min_pixels: 3136, max_pixels: 3_211_264 },
        Rule::SmartResize { factor: 32, min_pixels: 8192, max_pixels: 4_194_304 },
        Rule::Patches14 { budget: 16_384, max_side: 512 },
        Rule::Canvas { tile: 336, tiles: 16, tile_tokens: 144 },
    ] {
        for (width, height) in sizes {
            let seen = rule.seen(width, height, None);
            let again = rule.seen(seen.width, seen.height, None);
            let size = |seen: Seen| (seen.width, seen.height);
            assert_eq!(size(again), size(seen), "{rule:?} {width}x{height}");
        }
    }
}

/// The budget for an unknown model is enough for every known family, except for the few whose small
/// models multiply what they count.
#[test]
fn unknown_is_as_dear_as_any_family() {
    let is_multiplied = |rule: &Rule| match *rule {
        Rule::Patch32 { multiplier, .. } => multiplier > 1.2,
        Rule::Tiles512 { base, .. } => base > 100,
        _ => false,
    };
    let sides = [1, 28, 200, 384, 385, 512, 768, 1024, 1025, 1280, 1568, 1920, 2048, 2576, 4000];
    let mut compared = 0;
    for profile in crate::profile::shipped().iter().filter(|one| !is_multiplied(&one.tokens)) {
        for (&width, &height) in sides.iter().flat_map(|w| sides.iter().map(move |h| (w, h))) {
            let unknown = Rule::Unknown.most_tokens(width, height, None);
            let known = profile.tokens.image_tokens(width, height, None);
            assert!(known <= unknown, "{} {width}x{height}: {known} > {unknown}", profile.id);
            compared += 1;
        }
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn orientation_does_not_change_the_price() {
    // A row that ends with a token of its own makes tall images dearer.
    let has_rows = |rule: &Rule| match *rule {
        Rule::Cells28Grid { row_tokens, .. } => row_tokens > 0,
        Rule::Unknown
        | Rule::Patch32 { .. }
        | Rule::Tiles512 { .. }
        | Rule::Cells28 { .. }
        | Rule::Tiles768 { .. }
        | Rule::Flat { .. }
        | Rule::SmartResize { .. }
        | Rule::Patches14 { .. }
        | Rule::Canvas { .. } => false,
    };
    for column in vectors().iter().filter(|column| !has_rows(&column.tokens)) {
        for image in &column.images {
            let [width, height] = image.size;
            let price = |w, h| column.tokens.image_tokens(w, h, column.detail);
            assert_eq!(price(width, height), price(height, width), "{}", column.name);
        }
    }
}

#[test]
fn detail_chooses_the_tier() {
    let rule = Rule::Patch32 {
        budget: 2500,
        max_side: 2048,
        multiplier: 1.0,
        original: Some(super::Tier { budget: Some(10_000), max_side: Some(6000) }),
        omitted: Detail::Original,
    };
    let price = |detail| rule.image_tokens(3840, 2160, detail);
    assert_eq!(price(Some(Detail::Low)), 256);
    assert_eq!(price(Some(Detail::High)), 2304);
    assert_eq!(price(Some(Detail::Original)), 8160);
    assert_eq!(price(Some(Detail::Auto)), price(None));
    assert_eq!(price(None), 8160);

    let tiles = Rule::Tiles512 { base: 85, tile: 170 };
    assert_eq!(tiles.image_tokens(3840, 2160, Some(Detail::Low)), 85);
    let flat = Rule::Flat { tokens: 1120, low: Some(280), medium: Some(560), original: Some(2240) };
    assert_eq!(flat.image_tokens(1, 1, None), 1120);
    assert_eq!(flat.image_tokens(9000, 9000, Some(Detail::Low)), 280);
    assert_eq!(flat.image_tokens(9000, 9000, Some(Detail::Original)), 2240);
    assert_eq!(flat.image_tokens(9000, 9000, Some(Detail::High)), 1120);
}

#[test]
fn tile_boundaries_are_exact() {
    let rule = Rule::Tiles512 { base: 0, tile: 1 };
    // 1800 by 2400 becomes exactly 768 by 1024: two by two, never two by three.
    assert_eq!(rule.seen(1800, 2400, None), Seen { width: 768, height: 1024, tokens: 4 });
    assert_eq!(rule.seen(513, 512, None).tokens, 2);
    assert_eq!(rule.seen(768, 768, None).width, 768);
    assert_eq!(rule.seen(769, 800, None), Seen { width: 768, height: 799, tokens: 4 });
}

#[test]
fn base64_as_text_is_a_quarter_of_its_length() {
    assert_eq!(text_tokens(0), 0);
    assert_eq!(text_tokens(1), 1);
    assert_eq!(text_tokens(4_000_000), 1_000_000);
    assert_eq!(text_tokens(u64::MAX), u64::MAX / 4 + 1);
}
