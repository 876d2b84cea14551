//! Every size chosen is one the provider leaves alone, and every tile set shows every pixel.

#![expect(clippy::expect_used, reason = "a test that cannot find its profile has failed")]

use std::sync::LazyLock;

use photic::Profile;
use photic::profile::shipped;
use photic_pixels::fit::{
    Caps, Fidelity, FittedSize, MAX_TILES, OVERLAP, Preset, fit, fit_within, tiles,
};
use photic_pixels::geometry::Rect;
use proptest::prelude::*;

/// Ordinary sizes, screens, strips, and sizes a header may claim.
fn sizes() -> impl Strategy<Value = (u32, u32)> {
    let side = prop_oneof![1..64_u32, 64..600_u32, 600..3000_u32, 3000..12_000_u32, 1..70_000_u32];
    (side.clone(), side)
}

fn check(source: (u32, u32), profile: &Profile, fidelity: Fidelity, target: &FittedSize) {
    let FittedSize { width, height, content, upscale, detail, tokens } = *target;
    let about = format!("{} {source:?} {fidelity:?} {target:?}", profile.id);
    let seen = profile.seen(width, height, detail.or(profile.quirks.detail));
    assert_eq!((seen.width, seen.height), (width, height), "scaled again: {about}");
    assert_eq!(seen.tokens, tokens, "{about}");
    let limits = &profile.limits;
    let long = width.max(height);
    assert!(limits.edge.is_none_or(|most| long <= most), "edge: {about}");
    assert!(limits.crowd.is_none_or(|crowd| long <= crowd.edge), "crowd: {about}");
    assert!(limits.min_edge.is_none_or(|least| width.min(height) >= least), "min: {about}");
    let patches = u64::from(width.div_ceil(32)) * u64::from(height.div_ceil(32));
    assert!(limits.patches.is_none_or(|most| patches <= u64::from(most)), "patches: {about}");
    match fidelity {
        Fidelity::Glance => assert!(long <= 512, "{about}"),
        Fidelity::Read => assert!(long <= 2000, "{about}"),
        Fidelity::Pixel => {}
    }
    assert!(content.0 <= width && content.1 <= height, "{about}");
    if upscale == 1 {
        assert!(content.0 <= source.0 && content.1 <= source.1, "grown: {about}");
    } else {
        assert_eq!(content, (source.0 * upscale, source.1 * upscale), "{about}");
    }
    // Aspect: the short side is the long one's share to the nearest pixel.
    let (long, short) = (source.0.max(source.1), source.0.min(source.1));
    let ideal = f64::from(content.0.max(content.1)) * f64::from(short) / f64::from(long);
    let off = (f64::from(content.0.min(content.1)) - ideal.max(1.0)).abs();
    assert!(off <= 0.5 + 1e-6, "aspect off by {off}: {about}");
    // Padding only where the endpoint's minimum asks for it.
    if (width, height) != content {
        assert!(width.min(height) == limits.min_edge.unwrap_or(0), "padding: {about}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_size_is_a_fixed_point_of_every_profile(source in sizes()) {
        for profile in shipped() {
            for fidelity in Fidelity::ALL {
                check(source, profile, fidelity, &fit(source, profile, fidelity));
            }
        }
    }

    #[test]
    fn caps_hold_and_fitting_again_changes_nothing(source in sizes(), edge in 1..4000_u32) {
        let caps = Caps { edge: Some(edge), ..Caps::default() };
        for profile in shipped() {
            let target = fit_within(source, profile, Fidelity::Read, &caps);
            prop_assert!(target.width.max(target.height) <= edge);
            let content = target.content;
            let again = fit_within(content, profile, Fidelity::Read, &caps);
            prop_assert!(again.content == content || again.upscale > 1);
        }
    }

    /// Larger is never smaller: the size grows with the fidelity.
    #[test]
    fn fidelity_orders_sizes(source in sizes()) {
        for profile in shipped() {
            let area = |fidelity| {
                let target = fit(source, profile, fidelity);
                u64::from(target.content.0) * u64::from(target.content.1)
            };
            prop_assert!(area(Fidelity::Glance) <= area(Fidelity::Read));
            prop_assert!(area(Fidelity::Read) <= area(Fidelity::Pixel));
        }
    }

    #[test]
    fn tiles_show_every_pixel_unscaled(source in sizes(), which in any::<prop::sample::Index>()) {
        check_tiles(source, DISTINCT[which.index(DISTINCT.len())]);
    }
}

/// One profile of each rule and limit: tiles depend on nothing else.
static DISTINCT: LazyLock<Vec<&'static Profile>> = LazyLock::new(|| {
    let mut seen: Vec<String> = Vec::new();
    shipped()
        .iter()
        .filter(|profile| {
            let key = format!("{:?} {:?}", profile.tokens, profile.limits);
            let new = !seen.contains(&key);
            seen.push(key);
            new
        })
        .collect()
});

fn check_tiles(source: (u32, u32), profile: &Profile) {
    let tiling = tiles(source, profile);
    let about = format!("{} {source:?}", profile.id);
    assert!((1..=MAX_TILES).contains(&tiling.tiles.len()), "{about}");
    check(source, profile, Fidelity::Read, &tiling.overview);
    for tile in &tiling.tiles {
        assert!(tile.right() <= source.0 && tile.bottom() <= source.1, "{about} {tile:?}");
        let target = fit(tile.size(), profile, Fidelity::Read);
        assert!(target.content == tile.size() || target.upscale > 1, "{about} {tile:?} scaled");
    }
    // Exact cover: columns and rows of a grid each cover their side, with overlap.
    let mut shown: Vec<Rect> = tiling.tiles.clone();
    shown.extend(&tiling.not_covered);
    let total_shown = |point: (u32, u32)| shown.iter().any(|rect| rect.contains(point.0, point.1));
    let edges = |low: fn(&Rect) -> u32, high: fn(&Rect) -> u32, side: u32| {
        let mut at: Vec<u32> = shown.iter().flat_map(|r| [low(r), high(r)]).collect();
        at.extend([0, side]);
        at.sort_unstable();
        at.dedup();
        at.retain(|&x| x < side);
        at
    };
    // Every cell between any two edges is wholly shown or wholly not, so corners suffice.
    for &x in &edges(|r| r.x, Rect::right, source.0) {
        for &y in &edges(|r| r.y, Rect::bottom, source.1) {
            assert!(total_shown((x, y)), "{about}: {x},{y} is in no tile");
        }
    }
    for pair in tiling.tiles.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let shared =
            if a.y == b.y { a.right().checked_sub(b.x) } else { a.bottom().checked_sub(b.y) };
        assert!(shared.is_some_and(|shared| shared >= OVERLAP), "{about}: {a:?} {b:?}");
    }
    assert_eq!(tiling.note().is_some(), !tiling.not_covered.is_empty());
    if !tiling.not_covered.is_empty() {
        assert!(tiling.tiles.len() > MAX_TILES / 2, "{about}: gave up early");
    }
}

fn profile(id: &str) -> Profile {
    Profile::by_id(id).expect("a shipped profile")
}

#[test]
fn known_sizes() {
    let size = |id: &str, source, fidelity| {
        let target = fit(source, &profile(id), fidelity);
        (target.width, target.height)
    };
    let claude = "claude@anthropic";
    // The provider's own table: sending these costs no second resize.
    assert_eq!(size(claude, (1920, 1080), Fidelity::Read), (1456, 819));
    assert_eq!(size(claude, (2000, 1500), Fidelity::Read), (1269, 952));
    assert_eq!(size(claude, (1075, 1520), Fidelity::Read), (924, 1307));
    assert_eq!(size(claude, (1000, 1000), Fidelity::Read), (1000, 1000));
    // The high-resolution tier would take 2576, but not once a request is crowded.
    let high = "claude-high-resolution@anthropic";
    assert_eq!(size(high, (3840, 2160), Fidelity::Pixel), (2000, 1125));
    assert_eq!(size("gpt-4o@openai-chat", (3840, 2160), Fidelity::Read), (1366, 768));
    assert_eq!(size("gpt-5.6@openai-responses", (3840, 2160), Fidelity::Pixel), (3840, 2160));
    assert_eq!(size("gpt-5.6@openai-responses", (3840, 2160), Fidelity::Read), (2000, 1125));
    assert_eq!(size(claude, (3840, 2160), Fidelity::Glance), (512, 288));
}

#[test]
fn tiny_and_thin_sources() {
    let claude = profile("claude@anthropic");
    let target = fit((16, 16), &claude, Fidelity::Read);
    assert_eq!((target.width, target.upscale), (208, 13));
    assert_eq!(fit((1, 1), &claude, Fidelity::Pixel).upscale, 200);
    assert_eq!(fit((16, 16), &claude, Fidelity::Glance).upscale, 1);
    assert_eq!(fit((0, 0), &claude, Fidelity::Read).content, (200, 200));
    assert_eq!(fit((200, 10), &claude, Fidelity::Read).upscale, 1);

    let glm = shipped().iter().find(|p| p.limits.min_edge == Some(28)).expect("a minimum");
    let target = fit((10, 300), glm, Fidelity::Glance);
    assert_eq!((target.upscale, target.width), (1, 28), "too long to enlarge, so padded");
    let target = fit((10, 30), glm, Fidelity::Glance);
    assert_eq!((target.upscale, target.content), (3, (30, 90)));
    let target = fit((10, 3000), glm, Fidelity::Read);
    assert_eq!(target.upscale, 1);
    assert!(target.width == 28 && target.content.0 < 28, "{target:?}");
}

#[test]
fn the_seed_preset() {
    let preset = Preset::from_name("seed003").expect("by name");
    let caps = preset.caps();
    assert_eq!(caps, Caps { edge: Some(1568), bytes: Some(512_000), floor: 100 });
    let flat = shipped().iter().find(|p| p.id.starts_with("gemini-models@")).expect("flat");
    let target = fit_within((3136, 1764), flat, Fidelity::Read, &caps);
    assert_eq!((target.width, target.height), (1568, 882));
    assert_eq!(Preset::from_name("seed004"), None);
}

#[test]
fn the_sizes_of_the_threads() {
    let claude = profile("claude@anthropic");
    for (source, most) in [((1440, 5056), 8), ((5120, 1440), 8), ((1382, 12_028), 17)] {
        let tiling = tiles(source, &claude);
        assert!(tiling.tiles.len() <= most, "{source:?} takes {}", tiling.tiles.len());
        assert!(tiling.not_covered.is_empty());
        check_tiles(source, &claude);
    }
    let one = tiles((800, 600), &claude);
    assert_eq!(one.tiles, [Rect::new(0, 0, 800, 600)]);
    // A page too large for the bound says what is left.
    let page = tiles((11_072, 41_308), &claude);
    let note = page.note().expect("a note");
    assert!(note.contains("do not show 0,"), "{note}");
    check_tiles((60_000_000, 1), &claude);
    check_tiles((1, 60_000_000), &claude);
    check_tiles((u32::MAX, 3), &claude);
}

#[test]
fn fidelities_by_name() {
    for fidelity in Fidelity::ALL {
        assert_eq!(Fidelity::from_name(fidelity.name()), Some(fidelity));
    }
    assert_eq!(Fidelity::from_name("full"), None);
}
