//! The fold that decides what stays in sight, by itself: batches, floors, limits, twins.

use photic::retention::{Cause, Floor, Keeper, Load, MaxLoad, Prices, Rank, Retention, Turn, View};

const CLAUDE: Prices = Prices { read: 0.1, write: 1.25 };
const FLOOR: Floor = Floor { views: 3, turns: 3, saving: 1000, interval: 8 };
const UNCACHED: Prices = Prices { read: 1.0, write: 1.0 };

fn words(tokens: u64) -> Load {
    Load { tokens, bytes: tokens * 4, ..Load::default() }
}

/// The frontier after each turn of one view and some words.
fn frontiers(mut keeper: Keeper, turns: usize, image: u64, text: u64) -> Vec<usize> {
    let view = View::new(image, 100_000);
    let mut frontier = |_| {
        keeper.turn(&Turn { rest: words(text), views: &[view] });
        keeper.frontier()
    };
    (0..turns).map(&mut frontier).collect()
}

fn priced(prices: Prices) -> Keeper {
    Keeper::new(Retention::Priced, FLOOR, prices, MaxLoad::default())
}

#[test]
fn priced_retires_in_batches_and_keeps_the_newest() {
    let frontiers = frontiers(priced(CLAUDE), 100, 1300, 300);
    let edits = frontiers.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!((8..=16).contains(&edits), "{edits} edits");
    for (turn, frontier) in frontiers.iter().enumerate() {
        assert!(turn + 1 - frontier >= 3.min(turn + 1), "turn {turn}: {frontier}");
    }
    assert!(100 - frontiers[99] < 14, "{frontiers:?}");
}

#[test]
fn where_nothing_is_cached_batches_are_an_interval_apart() {
    let frontiers = frontiers(priced(UNCACHED), 60, 1300, 300);
    let edits: Vec<usize> = (1..60)
        .filter(|&turn| frontiers[turn] != frontiers[turn - 1])
        .map(|turn| turn + 1)
        .collect();
    assert_eq!(edits, [8, 16, 24, 32, 40, 48, 56]);
    assert_eq!(frontiers[55], 53);
}

#[test]
fn priced_never_touches_the_last_turns() {
    let mut keeper = priced(UNCACHED);
    for turn in 1..=24_usize {
        keeper.turn(&Turn { rest: words(300), views: &[View::new(1300, 100_000); 4] });
        let oldest = turn.saturating_sub(3) * 4;
        assert!(keeper.frontier() <= oldest, "turn {turn}: {}", keeper.frontier());
    }
    assert_eq!(keeper.frontier(), 84);
}

#[test]
fn priced_does_not_act_for_little() {
    let few = Floor { saving: 10_000_000, ..FLOOR };
    let keeper = Keeper::new(Retention::Priced, few, UNCACHED, MaxLoad::default());
    assert_eq!(frontiers(keeper, 60, 1300, 300)[59], 0);
}

#[test]
fn under_all_the_price_retires_only_what_has_an_exact_reference() {
    let mut keeper = Keeper::new(Retention::All, FLOOR, UNCACHED, MaxLoad::default());
    let named = View { rank: Rank::Reference, ..View::new(1300, 100_000) };
    for turn in 0..60 {
        let view = if turn % 2 == 0 { named } else { View::new(1300, 100_000) };
        keeper.turn(&Turn { rest: words(300), views: &[view] });
    }
    let retired = |index: usize| keeper.retired(index);
    assert!((0..48).step_by(2).all(|index| retired(index) == Some(Cause::Policy)));
    assert!((1..60).step_by(2).all(|index| retired(index).is_none()));
    assert!((57..60).all(|index| retired(index).is_none()));
}

#[test]
fn what_a_person_attached_goes_last_and_in_batches() {
    let room = MaxLoad { images: Some(8), ..MaxLoad::default() };
    let mut keeper = Keeper::new(Retention::All, FLOOR, CLAUDE, room);
    let attached = View { rank: Rank::Attached, ..View::new(1300, 100_000) };
    let view = View::new(1300, 100_000);
    keeper.turn(&Turn { rest: words(300), views: &[attached; 4] });
    for _ in 0..20 {
        keeper.turn(&Turn { rest: words(300), views: &[view] });
        assert!((0..4).all(|index| keeper.retired(index).is_none()));
        assert!(keeper.load().images <= 8);
    }
    // Nothing but attachments: the oldest of them go, many at once.
    let mut keeper = Keeper::new(Retention::All, FLOOR, CLAUDE, room);
    let edits = (0..60)
        .filter(|_| keeper.turn(&Turn { rest: words(300), views: &[attached] }).is_some())
        .count();
    assert_eq!(edits, 7);
    assert_eq!(keeper.retired(0), Some(Cause::Count));
}

#[test]
fn a_turn_that_brings_too_much_is_dealt_with_once() {
    let room = MaxLoad { images: Some(8), ..MaxLoad::default() };
    let mut keeper = Keeper::new(Retention::All, FLOOR, CLAUDE, room);
    let attached = View { rank: Rank::Attached, ..View::new(1300, 100_000) };
    assert_eq!(keeper.turn(&Turn { rest: words(300), views: &[attached; 9] }), None);
    for _ in 0..5 {
        assert_eq!(keeper.turn(&Turn { rest: words(300), views: &[] }), None);
    }
    assert!(keeper.turn(&Turn { rest: words(300), views: &[attached] }).is_some());
    assert!(keeper.load().images <= 8);
}

#[test]
fn documents_have_a_limit_of_their_own() {
    let room = MaxLoad { documents: Some(5), ..MaxLoad::default() };
    let mut keeper = Keeper::new(Retention::All, FLOOR, CLAUDE, room);
    let load = Load { documents: 1, bytes: 1000, ..Load::default() };
    let paper = View { load, twin: None, rank: Rank::Attached };
    let picture = View { rank: Rank::Attached, ..View::new(1300, 100_000) };
    keeper.turn(&Turn { rest: words(300), views: &[picture] });
    let edits = (0..60)
        .filter(|_| keeper.turn(&Turn { rest: words(300), views: &[paper] }).is_some())
        .count();
    assert_eq!(keeper.retired(0), None, "a picture does not give way to documents");
    assert!(keeper.load().documents <= 5);
    assert_eq!(edits, 11, "five fit: one turn of five");
}

#[test]
fn a_context_that_words_alone_exceed_retires_nothing_more() {
    let room = MaxLoad { tokens: Some(20_000), ..MaxLoad::default() };
    let mut keeper = Keeper::new(Retention::All, FLOOR, CLAUDE, room);
    let mut edits = Vec::new();
    for turn in 1..=60 {
        let views = [View::new(1300, 100_000)];
        edits.extend(keeper.turn(&Turn { rest: words(500), views: &views }).map(|_| turn));
    }
    assert!(edits.last().is_some_and(|&last| last <= 40), "{edits:?}");
    assert!(edits.len() <= 11, "{edits:?}");
}

#[test]
fn without_an_interval_the_fold_leaves_limits_alone() {
    let (least, room) =
        (Floor { interval: 0, ..FLOOR }, MaxLoad { images: Some(8), ..MaxLoad::default() });
    let keeper = Keeper::new(Retention::All, least, CLAUDE, room);
    assert_eq!(frontiers(keeper, 20, 1300, 300)[19], 0);
}

#[test]
fn a_batch_that_would_not_pay_for_itself_waits() {
    // One picture in a long talk: what follows it would be written again for nothing.
    let mut keeper = priced(CLAUDE);
    let view = View::new(1300, 100_000);
    for turn in 0..200 {
        let views: &[View] = if turn % 20 == 0 { &[view] } else { &[] };
        keeper.turn(&Turn { rest: words(2000), views });
    }
    assert_eq!(keeper.frontier(), 0);
}

#[test]
fn windows_by_name_are_exact() {
    let newest = Keeper::new(Retention::Newest(4), FLOOR, CLAUDE, MaxLoad::default());
    assert_eq!(frontiers(newest, 7, 1300, 300), [0, 0, 0, 0, 1, 2, 3]);
    let turns = Keeper::new(Retention::Turns(1), FLOOR, CLAUDE, MaxLoad::default());
    assert_eq!(frontiers(turns, 5, 1300, 300), [0, 0, 1, 2, 3]);
    let none_but_this = Keeper::new(Retention::Turns(0), FLOOR, CLAUDE, MaxLoad::default());
    assert_eq!(frontiers(none_but_this, 4, 1300, 300), [0, 1, 2, 3]);
}

#[test]
fn a_limit_retires_half_so_that_the_next_one_is_far() {
    let room = MaxLoad { images: Some(20), ..MaxLoad::default() };
    let all = Keeper::new(Retention::All, FLOOR, CLAUDE, room);
    let frontiers = frontiers(all, 60, 1300, 300);
    let edits = frontiers.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(edits, 4, "{frontiers:?}");
    for (turn, frontier) in frontiers.iter().enumerate() {
        assert!(turn + 1 - frontier <= 20);
    }
}

#[test]
fn what_a_turn_brings_is_never_retired_in_it() {
    let room = MaxLoad { images: Some(2), ..MaxLoad::default() };
    let mut keeper = Keeper::new(Retention::Newest(1), FLOOR, CLAUDE, room);
    let views = [View::new(1300, 100_000); 5];
    keeper.turn(&Turn { rest: words(300), views: &views });
    assert_eq!(keeper.frontier(), 0);
    keeper.turn(&Turn { rest: words(300), views: &views[..1] });
    assert_eq!(keeper.frontier(), 5);
}

#[test]
fn a_repeated_frame_is_a_note_until_its_first_sight_is_retired() {
    let mut keeper = Keeper::new(Retention::Newest(2), FLOOR, CLAUDE, MaxLoad::default());
    let frame = View::new(1300, 100_000);
    keeper.turn(&Turn { rest: words(300), views: &[frame] });
    keeper.turn(&Turn { rest: words(300), views: &[View { twin: Some(0), ..frame }] });
    assert!(keeper.is_twin(1));
    assert_eq!(keeper.load().images, 1);
    keeper.turn(&Turn { rest: words(300), views: &[frame] });
    assert_eq!(keeper.frontier(), 1);
    assert!(!keeper.is_twin(1));
    assert_eq!(keeper.load().images, 2);
}

#[test]
fn what_the_next_turn_does_is_known_in_an_even_session() {
    let mut keeper = priced(CLAUDE);
    let view = View::new(1300, 100_000);
    let mut expected = false;
    for turn in 0..200 {
        let retired = keeper.turn(&Turn { rest: words(300), views: &[view] });
        assert!(retired.is_some() == expected || turn == 0, "turn {turn}");
        expected = keeper.retires_next();
    }
}

#[test]
fn heavy_and_large_images_shrink_before_they_are_retired() {
    let room = MaxLoad { bytes: Some(1_000_000), crowd: Some(4), ..MaxLoad::default() };
    let mut view = View::new(1300, 300_000);
    view.load.large = 1;
    view.load.spare = 237_500;
    let shrinks = Keeper::new(Retention::All, FLOOR, CLAUDE, room);
    let mut with_pixels = shrinks.clone().with_pixels();
    let mut without = shrinks;
    for _ in 0..6 {
        with_pixels.turn(&Turn { rest: words(300), views: &[view] });
        without.turn(&Turn { rest: words(300), views: &[view] });
    }
    assert!(with_pixels.is_crowded() && with_pixels.is_squeezed());
    assert_eq!(with_pixels.frontier(), 0);
    assert!(!without.is_crowded() && without.frontier() > 0);
}

#[test]
fn policies_have_names() {
    for name in ["priced", "all", "turns(2)", "newest(4)"] {
        assert_eq!(Retention::from_name(name).unwrap().to_string(), name);
    }
    for name in ["", "newest", "newest()", "turns(-1)", "turns(2", "Priced"] {
        assert_eq!(Retention::from_name(name), None, "{name}");
    }
}
