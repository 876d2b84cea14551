//! What a session costs, held against figures found elsewhere, against an exact optimum, and that
//! against every schedule there is.

use photic::Profile;
use photic::retention::{MaxLoad, Prices, Retention};
use photic::simulate::{Cache, Contender, Outcome, Rule, Session, Setting, optimum, run};

/// One profile for each kind of cache: marks, marks and the end of every request, any prefix.
const KINDS: [&str; 3] = ["anthropic", "gpt-5.6@openai-responses", "gpt-5@openai-responses"];
const PRICED: Contender = Contender::Photic(Retention::Priced);

fn cache(profile: &str) -> Cache {
    Cache::from(&Profile::by_id(profile).unwrap().cache)
}

fn setting(cache: Cache) -> Setting {
    Setting { session: Session::default(), floor: 3, cache, room: MaxLoad::default() }
}

fn percent(outcome: &Outcome, of: &Outcome) -> f64 {
    100.0 * outcome.cost() / of.cost()
}

fn near(a: f64, b: f64, by: f64) -> bool {
    (a - b).abs() <= by
}

#[test]
fn the_kinds_of_cache_come_from_the_profiles() {
    assert_eq!(
        KINDS.map(|id| cache(id).rule),
        [Rule::Marks { most: 4, lookback: 20 }, Rule::Tail { most: 4 }, Rule::Prefix { step: 128 },]
    );
    let absent = Cache::from(&photic::profile::Cache::default());
    assert_eq!(absent.rule, Rule::Absent);
    let written: Vec<_> = KINDS.iter().map(|id| cache(id).prices.write).collect();
    assert_eq!(written, [1.25, 1.25, 1.0]);
}

/// Computed by another program, which plays a cache with hashed prefixes; 100 steps, in percent of
/// keeping everything: the four newest, the interval rule, the optimum, and thousands of tokens.
#[test]
fn sessions_cost_what_another_simulator_says() {
    for (kind, reference) in KINDS.into_iter().zip([
        [257.8, 65.9, 51.0, 1025.45],
        [290.1, 66.6, 51.0, 1025.45],
        [81.4, 62.7, 48.0, 992.57],
    ]) {
        let setting = setting(cache(kind));
        let all = run(&setting, Contender::All);
        let found = [
            percent(&run(&setting, Contender::Sliding(4)), &all),
            percent(&run(&setting, Contender::Interval { least: 3, every: 40 }), &all),
            percent(&optimum(&setting), &all),
            all.cost() / 1000.0,
        ];
        let same = found.iter().zip(reference).all(|(&found, known)| near(found, known, 0.05));
        assert!(same, "{kind}: {found:.2?}, not {reference:?}");
    }
    // Marks in the right places are most of what there is to gain.
    let setting = setting(cache(KINDS[0]));
    let planned = run(&setting, Contender::Photic(Retention::Newest(4)));
    let share = percent(&planned, &run(&setting, Contender::All));
    assert!(near(share, 79.2, 0.05), "{share:.2}");
    assert_eq!((planned.peak, planned.edits.len()), (39_640, 96));
}

#[test]
fn the_price_comes_close_to_the_optimum_without_knowing_the_end() {
    for kind in KINDS {
        for (steps, most) in [(20, 8.0), (100, 3.0), (500, 3.0)] {
            for image in (400..=4700).step_by(100) {
                let mut setting = setting(cache(kind));
                setting.session = Session { steps, image, ..setting.session };
                let over = percent(&run(&setting, PRICED), &optimum(&setting)) - 100.0;
                let at = format!("{kind}, {steps} steps, {image} tokens: {over:+.2} %");
                assert!(over <= most, "{at}");
                assert!(over >= -1e-9, "nothing is cheaper than the optimum: {at}");
            }
        }
    }
}

/// The beginning of a session is the same whatever comes after it.
#[test]
fn no_policy_knows_the_end() {
    for kind in KINDS {
        let long = setting(cache(kind));
        let short = Setting { session: Session { steps: 37, ..long.session }, ..long };
        for contender in [PRICED, Contender::Photic(Retention::Newest(4)), Contender::Sliding(4)] {
            let (long, short) = (run(&long, contender), run(&short, contender));
            assert_eq!(long.paid[..37], short.paid[..], "{kind} {contender:?}");
        }
    }
}

#[test]
fn the_optimum_is_the_cheapest_of_all_schedules() {
    let mut cases = 0;
    let sessions =
        [(3000, 300, 1300, 1), (100, 50, 4000, 1), (3000, 20, 1300, 1), (900, 90, 700, 2)];
    let caches = [
        (1.25, 0.1, Rule::Marks { most: 4, lookback: 20 }),
        (1.25, 0.3, Rule::Tail { most: 4 }),
        (1.0, 0.5, Rule::Marks { most: 4, lookback: 20 }),
        (1.0, 0.3, Rule::Prefix { step: 1 }),
        (1.0, 0.1, Rule::Prefix { step: 128 }),
    ];
    for (system, text, image, every) in sessions {
        for (write, read, rule) in caches {
            for floor in 1..=3 {
                let cache = Cache { prices: Prices { read, write }, minimum: 0, rule };
                let session =
                    Session { steps: 8, system, text, image, every, ..Session::default() };
                let setting = Setting { session, floor, cache, room: MaxLoad::default() };
                let (found, least) = (optimum(&setting).cost(), cheapest(&setting));
                assert!(near(found, least, 1e-6), "{setting:?}: {found}, not {least}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 60);
}

/// The cheapest of every way to retire any view at any step, with ideal marks; written without the
/// library.
fn cheapest(setting: &Setting) -> f64 {
    let Session { steps, every, .. } = setting.session;
    let views: Vec<usize> = (1..=steps).step_by(every).collect();
    // The steps at which a view may go: when enough newer ones are there, or never.
    let choices: Vec<Vec<usize>> = (0..views.len())
        .map(|view| {
            let free = views.get(view + setting.floor).copied().unwrap_or(usize::MAX);
            (free..=steps).chain([usize::MAX]).collect()
        })
        .collect();
    let mut chosen = vec![0; views.len()];
    let mut least = f64::INFINITY;
    loop {
        let goes: Vec<usize> = chosen.iter().zip(&choices).map(|(&at, of)| of[at]).collect();
        least = least.min(paid(setting, &views, &goes));
        let Some(turn) = (0..chosen.len()).find(|&at| chosen[at] + 1 < choices[at].len()) else {
            return least;
        };
        chosen[turn] += 1;
        chosen[..turn].fill(0);
    }
}

fn paid(setting: &Setting, views: &[usize], goes: &[usize]) -> f64 {
    let Session { steps, system, text, image, notice, .. } = setting.session;
    let Prices { read, write } = setting.cache.prices;
    let unit = if let Rule::Prefix { step } = setting.cache.rule { step } else { 1 };
    let shows = |view: usize, step: usize| if goes[view] <= step { notice } else { image };
    let (mut cost, mut was_read) = (0.0, 0);
    for step in 1..=steps {
        let (mut total, mut shared, mut same) = (system, system, true);
        for at in 1..=step {
            total += text;
            shared += if same { text } else { 0 };
            if let Ok(view) = views.binary_search(&at) {
                total += shows(view, step);
                same &= shows(view, step) == shows(view, step + 1);
                shared += if same { shows(view, step) } else { 0 };
            }
        }
        let next = if step == steps { 0 } else { shared / unit * unit };
        let written = next.saturating_sub(was_read);
        let plain = total - was_read - written;
        cost += was_read as f64 * read + written as f64 * write + plain as f64;
        was_read = next;
    }
    cost
}

/// At most one turn of eight retires something, also where reads are so dear that a batch would pay
/// sooner: that is why the last bound is wider.
#[test]
fn other_read_prices_are_no_reason_to_lose() {
    for (read, all_most, window_most) in
        [(0.05, 102.0, 105.0), (0.1, 102.0, 105.0), (0.25, 102.0, 105.0), (0.5, 102.0, 121.0)]
    {
        let mut worst = (0.0_f64, 0.0_f64);
        for kind in KINDS {
            for steps in [100, 500] {
                for image in [400, 800, 1300, 2500, 4700] {
                    let mut setting = setting(cache(kind));
                    setting.cache.prices.read = read;
                    setting.session = Session { steps, image, ..setting.session };
                    let priced = run(&setting, PRICED);
                    let all = percent(&priced, &run(&setting, Contender::All));
                    let window = Contender::Photic(Retention::Newest(3));
                    let window = percent(&priced, &run(&setting, window));
                    worst = (worst.0.max(all), worst.1.max(window));
                }
            }
        }
        println!("read {read}: at most {:.2} % of all, {:.2} % of keeping three", worst.0, worst.1);
        assert!(worst.0 <= all_most, "read {read}: {:.2} % of keeping all", worst.0);
        assert!(worst.1 <= window_most, "read {read}: {:.2} % of keeping three", worst.1);
    }
}

/// How far `priced` may be from the optimum, in percent, at 20, 100 and 500 steps, by what a read
/// costs. The optimum knows the end and may retire something in every turn. Where reads are cheap,
/// the end of a short session comes before a batch has paid; where they are dear, the batches would
/// follow each other within the eight turns that the prefix is to last.
const BY_READ: [(f64, [f64; 3]); 8] = [
    (0.025, [18.0, 7.5, 2.0]),
    (0.05, [15.0, 2.5, 1.0]),
    (0.1, [6.0, 1.5, 1.0]),
    (0.15, [5.5, 3.5, 2.0]),
    (0.16, [4.5, 4.0, 2.5]),
    (0.25, [6.0, 8.5, 4.5]),
    (0.5, [20.0, 21.5, 9.5]),
    (1.0, [57.5, 47.0, 17.0]),
];

#[test]
fn every_read_price_has_its_figure() {
    for profile in photic::profile::shipped() {
        let read = profile.cache.read;
        assert!(
            BY_READ.iter().any(|(known, _)| (known - read).abs() < 1e-9),
            "{}: {read}",
            profile.id
        );
    }
    for (read, most) in BY_READ {
        for (steps, most) in [20, 100, 500].into_iter().zip(most) {
            let mut worst = (0.0, 0);
            for image in (400..=4700).step_by(100) {
                let mut setting = setting(cache("gpt-5@openai-responses"));
                setting.cache.prices.read = read;
                setting.session = Session { steps, image, ..setting.session };
                let over = percent(&run(&setting, PRICED), &optimum(&setting)) - 100.0;
                if over > worst.0 {
                    worst = (over, image);
                }
            }
            let (over, image) = worst;
            let at = format!("read {read}, {steps} steps: {over:+.2} % at {image} tokens");
            println!("{at}");
            assert!(over <= most, "{at}");
        }
    }
}

/// Who retires a batch in the last step has paid for nothing, and nobody knows which is the last.
/// How bad that can be, over any length, with many words or few and views often or seldom.
#[test]
fn an_untimely_end_costs_no_more_than_this() {
    for (text, every, own, cheap) in [
        (300, 1, 18.5, 28.0),
        (1000, 1, 26.0, 32.5),
        (3000, 1, 27.5, 32.5),
        (300, 5, 18.5, 30.0),
        (2000, 20, 9.5, 16.0),
    ] {
        for (read, most) in [(0.1, own), (0.025, cheap)] {
            let mut worst = (0.0, String::new());
            for kind in KINDS {
                for image in [400, 800, 1300, 2500, 4700] {
                    let mut setting = setting(cache(kind));
                    setting.cache.prices.read = read;
                    setting.session = Session { steps: 500, text, image, every, ..setting.session };
                    let (priced, all) = (run(&setting, PRICED), run(&setting, Contender::All));
                    for (step, (ours, theirs)) in (1..).zip(priced.paid.iter().zip(&all.paid)) {
                        let over = 100.0 * (ours / theirs - 1.0);
                        if over > worst.0 {
                            worst = (over, format!("{kind}, {image} tokens, ends at {step}"));
                        }
                    }
                }
            }
            let (over, at) = worst;
            assert!(over <= most, "{text} words, a view in {every}, {at}: {over:+.1} %");
        }
    }
}

#[test]
fn odd_prices_are_survived() {
    for kind in KINDS {
        for (read, write) in [(0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (0.0, 1e9), (1e9, 1.0)] {
            for image in [0, 1, 20, 1_000_000] {
                let mut setting = setting(cache(kind));
                setting.cache.prices = Prices { read, write };
                setting.session = Session { steps: 30, image, ..setting.session };
                let priced = run(&setting, PRICED);
                assert!(priced.cost().is_finite() && optimum(&setting).cost().is_finite());
            }
        }
    }
}

/// Without a cache there is no prefix to lose, and the optimum retires something in every turn;
/// `priced` keeps its rhythm, which costs this much.
#[test]
fn without_a_cache_the_price_keeps_its_rhythm() {
    let setting = setting(Cache::from(&photic::profile::Cache::default()));
    let priced = run(&setting, PRICED);
    let rhythm: Vec<usize> = (1..=12).map(|batch| 8 * batch).collect();
    assert_eq!(priced.edits, rhythm);
    let over = percent(&priced, &optimum(&setting)) - 100.0;
    println!("without a cache: {over:+.2} % of the optimum");
    assert!((10.0..30.0).contains(&over), "{over}");
    assert_eq!((priced.charge.read, priced.charge.written), (0, 0));
}

#[test]
fn what_is_read_for_nothing_stays() {
    let mut setting = setting(cache(KINDS[0]));
    setting.cache.prices.read = 0.0;
    assert_eq!(run(&setting, PRICED).edits, [0; 0]);
    assert_eq!(optimum(&setting).edits, [0; 0]);
}

#[test]
fn a_request_is_paid_for_once() {
    for kind in KINDS {
        let setting = setting(cache(kind));
        for contender in [PRICED, Contender::All, Contender::Sliding(4)] {
            let outcome = run(&setting, contender);
            let prices = setting.cache.prices;
            assert!(
                near(outcome.cost(), outcome.charge.cost(prices), 1e-3),
                "{kind} {contender:?}"
            );
        }
        let all = run(&setting, Contender::All).charge;
        assert_eq!(all.read + all.written + all.plain, 8_380_000, "{kind}");
    }
}

#[test]
fn a_prefix_below_the_minimum_is_not_held() {
    for kind in KINDS {
        let mut setting = setting(cache(kind));
        setting.session.steps = 2;
        let read = |setting: &Setting| run(setting, PRICED).charge.read;
        assert!(read(&setting) > 4000, "{kind}");
        setting.cache.minimum = 5000;
        assert_eq!(read(&setting), 0, "{kind}");
    }
}

/// Marks that are too far from the last entry find nothing, so photic leaves one where it departs.
#[test]
fn planned_marks_survive_a_short_look_back() {
    let mut setting = setting(cache(KINDS[0]));
    setting.session = Session { image: 400, steps: 300, ..setting.session };
    let whole = run(&setting, PRICED);
    setting.cache.rule = Rule::Marks { most: 4, lookback: 1 };
    assert_eq!(run(&setting, PRICED), whole);
    setting.cache.rule = Rule::Marks { most: 1, lookback: 20 };
    assert!(run(&setting, PRICED).cost() > whole.cost());
}

#[test]
fn an_endpoint_with_little_room_is_kept_within() {
    let mut setting = setting(cache(KINDS[0]));
    setting.room.images = Some(8);
    let held = run(&setting, Contender::Photic(Retention::All));
    assert!(held.peak < run(&setting, Contender::All).peak / 3, "{}", held.peak);
    setting.room = MaxLoad { tokens: Some(60_000), ..MaxLoad::default() };
    assert!(run(&setting, Contender::Photic(Retention::All)).peak <= 60_000);
}

#[test]
fn an_empty_session_costs_nothing() {
    let mut setting = setting(cache(KINDS[0]));
    setting.session.steps = 0;
    assert_eq!((run(&setting, PRICED).cost(), optimum(&setting).cost()), (0.0, 0.0));
}
