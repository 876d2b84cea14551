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
            if !size_ok || image.tokens.is_some_and(|tokens| tokens != seen.tokens) {
                wrong.push(format!("{}: {width}x{height} gave {seen:?}", column.name));
            }
            assert!(image.seen.is_some() || image.tokens.is_some(), "a vector that checks nothing");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked >= 100, "only {checked} vectors read");
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
fn cells28_result_is_a_fixed_point() {
    let rule = Rule::Cells28 { max_edge: 2576, max_tokens: 4784 };
    for (width, height) in [(3840, 2160), (2160, 3840), (6000, 4000), (9000, 17), (2577, 2577)] {
        let seen = rule.seen(width, height, None);
        assert_eq!(rule.seen(seen.width, seen.height, None), seen);
    }
}

#[test]
fn orientation_does_not_change_the_price() {
    for column in vectors() {
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
    let flat = Rule::Flat { tokens: 1120, low: Some(280) };
    assert_eq!(flat.image_tokens(1, 1, None), 1120);
    assert_eq!(flat.image_tokens(9000, 9000, Some(Detail::Low)), 280);
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
