//! Several processes on one list, and one that dies.

use std::collections::BTreeSet;
use std::process::Output;

use photic_mock::Options;

use super::BatchTest;
use crate::{stderr, stdout};

/// Every day's number of charts; `PHOTIC_BATCH_CHARTS` asks for more.
const CHARTS: u64 = 90;
const AT_ONCE: usize = 4;
const FLAGS: [&str; 6] = ["--at-once", "4", "--chunk", "10", "--lease", "8"];

fn charts() -> u64 {
    std::env::var("PHOTIC_BATCH_CHARTS").map_or(CHARTS, |charts| charts.parse().unwrap())
}

/// Three begin, one is killed in the middle, the others do it all; then nothing is asked again.
fn three_and_one_dies(place: &BatchTest) {
    let charts = place.charts.len();
    let mut all = [place.start(&FLAGS), place.start(&FLAGS), place.start(&FLAGS)];
    place.until_asked(charts / 3);
    all[1].kill().unwrap();
    let killed = all.map(|child| child.wait_with_output().unwrap());
    let [one, dead, other] = &killed;
    assert_eq!((dead.status.code(), dead.stdout.len()), (None, 0), "{}", stderr(dead));
    for output in [one, other] {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
        place.all_named_right(&stdout(output));
    }
    assert_eq!(one.stdout, other.stdout, "the same bytes whoever writes them");

    let each = place.asked_each();
    let different: BTreeSet<Vec<u8>> =
        place.charts.iter().map(|chart| chart.png().unwrap()).collect();
    assert_eq!(each.len(), different.len(), "every picture was asked about");
    let again: Vec<usize> = each.values().copied().filter(|&times| times > 1).collect();
    assert!(again.len() <= AT_ONCE && again.iter().all(|&times| times == 2), "{again:?}");
    #[expect(clippy::print_stdout, reason = "says what was measured")]
    {
        println!("{charts} charts, {} asked once more after the kill", again.len());
    }

    let before = place.asked();
    let once_more = place.run(&FLAGS);
    assert_eq!(once_more.status.code(), Some(0), "{}", stderr(&once_more));
    assert_eq!(once_more.stdout, one.stdout);
    let words = stderr(&once_more);
    assert!(words.contains(" 0 asked here"), "{words}");
    // Another list of the same pictures is another job, and asks nothing either.
    place.write("backward.txt", backward(place));
    let other_list: Output = place.command("backward.txt", &FLAGS).output().unwrap();
    assert_eq!(other_list.status.code(), Some(0), "{}", stderr(&other_list));
    let mut lines: Vec<String> = stdout(&other_list).lines().map(str::to_owned).collect();
    lines.reverse();
    assert_eq!(lines.join("\n") + "\n", stdout(one));
    assert_eq!(place.asked(), before, "nothing is asked twice");
}

fn backward(place: &BatchTest) -> String {
    let names = (0..place.charts.len()).rev().map(|number| format!("{number}.png"));
    names.collect::<Vec<_>>().join("\n")
}

#[test]
fn three_processes_share_a_list_in_a_directory_and_one_is_killed() {
    three_and_one_dies(&BatchTest::new(charts(), Options::default()));
}

#[test]
fn three_processes_share_a_list_on_a_server_and_one_is_killed() {
    let servers = ["PHOTIC_FLEET_POSTGRES", "PHOTIC_FLEET_BUCKET_MOTO"];
    let [Ok(postgres), Ok(bucket)] = servers.map(std::env::var) else {
        println!("skipped: no servers are up; see tests/e2e/fleet/with");
        return;
    };
    let mut place = BatchTest::new(charts(), Options::default());
    place.write("photic.toml", format!("[fleet]\npostgres = {postgres:?}\nbucket = {bucket:?}\n"));
    let tenant = place.folder.file_name().unwrap().to_str().unwrap().to_owned();
    place.record = ["--fleet", "photic.toml", "--tenant", &tenant].map(str::to_owned).to_vec();
    three_and_one_dies(&place);
}

#[test]
fn one_that_was_killed_goes_on_where_it_was() {
    let place = BatchTest::new(charts(), Options::default());
    let mut child = place.start(&FLAGS);
    place.until_asked(place.charts.len() / 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = place.asked();
    let output = place.run(&FLAGS);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    place.all_named_right(&stdout(&output));
    let twice = place.asked() - place.asked_each().len();
    assert!(twice <= AT_ONCE, "{twice} were asked twice");
    assert!(before >= place.charts.len() / 2 && place.asked() > before);
}

#[cfg(unix)]
#[test]
fn one_that_is_told_to_stop_ends_what_is_under_way_and_says_how_to_go_on() {
    let place = BatchTest::new(60, Options::default());
    let child = place.start(&FLAGS);
    place.until_asked(15);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let words = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("run the same command again to continue"), "{words}");
    let lines = stdout(&output);
    let answered = lines.lines().filter(|line| line.contains("\"answer\":")).count();
    let pending = lines.lines().filter(|line| line.ends_with("\"pending\":true}")).count();
    assert_eq!((answered + pending, answered), (60, place.asked()), "what was paid for is there");
    let output = place.run(&FLAGS);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    place.all_named_right(&stdout(&output));
    assert!(place.asked_each().values().all(|&times| times == 1), "nothing was lost");
}
