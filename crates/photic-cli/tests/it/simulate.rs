//! `photic simulate`: the table, the data, the plot, and the page that shows them.

use serde_json::Value;

use crate::{root, run, stderr, stdout};

fn data(arguments: &[&str]) -> Value {
    let output = run(&[&["simulate", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn policy<'v>(data: &'v Value, name: &str) -> &'v Value {
    data["policies"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()
}

#[test]
fn a_session_is_priced_under_every_policy() {
    let output = run(&["simulate", "--for", "claude-opus-5"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0));
    for name in [
        "all (default)",
        "priced, no marks",
        "priced",
        "turns(2)",
        "newest(4)",
        "all",
        "window of 4",
        "3 left every 40",
        "optimum",
    ] {
        assert!(text.contains(&format!("\n  {name} ")), "{name} is missing in\n{text}");
    }
    assert!(text.contains("1,334 per image of 1280x800"), "{text}");

    let data = data(&["--for", "claude-opus-5"]);
    let near = |name: &str, field: &str, value: f64| {
        let found = policy(&data, name)[field].as_f64().unwrap();
        assert!((found / value - 1.0).abs() < 0.01, "{name}.{field} is {found}, not {value}");
    };
    near("window of 4", "of_all", 2.60);
    near("everything", "usd", 5.23);
    near("priced", "of_all", 0.516);
    near("optimum", "of_all", 0.511);
    near("all (default)", "of_all", 1.0);
    assert_eq!(data["profile"], "claude-5@anthropic");
    assert_eq!(policy(&data, "window of 4")["edits"].as_array().unwrap().len(), 96);
}

#[test]
fn the_model_decides_what_an_image_costs_and_how_the_cache_works() {
    let image =
        |model: &str| data(&["--for", model, "--image", "1920x1080"])["image_tokens"].clone();
    assert_eq!([image("gpt-4o"), image("gpt-5-mini")], [1105, 2443]);
    // No price, no money.
    let unknown = data(&["--for", "nobody/knows-this"]);
    assert!(policy(&unknown, "priced").get("usd").is_none());
    let sparse = data(&["--for", "gpt-4o", "--every", "10", "--steps", "50"]);
    let dense = data(&["--for", "gpt-4o", "--steps", "50"]);
    let longest = |data: &Value| policy(data, "everything")["longest_tokens"].as_u64().unwrap();
    assert_eq!(longest(&dense) - longest(&sparse), 45 * dense["image_tokens"].as_u64().unwrap());
}

#[test]
fn what_does_not_fit_is_said_and_photic_keeps_within() {
    let arguments = ["--for", "gpt-4o", "--steps", "120"];
    let text = stdout(&run(&[&["simulate"], &arguments[..]].concat()));
    assert!(text.contains("! exceeds the model's context of 128,000 tokens"), "{text}");
    let data = data(&arguments);
    assert!(policy(&data, "everything")["longest_tokens"].as_u64().unwrap() > 128_000);
    assert!(policy(&data, "all")["longest_tokens"].as_u64().unwrap() <= 128_000);
}

#[test]
fn a_plot_is_one_svg_and_always_the_same() {
    let folder = std::env::temp_dir().join(format!("photic-simulate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let draw = |name: &str| {
        let path = folder.join(name);
        let output = run(&[
            "simulate",
            "--for",
            "a<b>&c",
            "--steps",
            "900",
            "--svg",
            path.to_str().unwrap(),
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        std::fs::read_to_string(path).unwrap()
    };
    let (one, two) = (draw("one.svg"), draw("two.svg"));
    assert_eq!(one, two);
    assert!(
        one.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && one.ends_with("</svg>\n")
    );
    assert!(one.contains("a&lt;b&gt;&amp;c") && !one.contains("NaN") && !one.contains("inf"));
    assert_eq!(one.matches("http").count(), 1, "nothing comes from elsewhere");
    for name in ["priced", "optimum", "everything", "window of 4"] {
        assert!(one.contains(&format!(">{name}")), "{name}");
    }
    assert!(one.len() < 60_000, "{} bytes", one.len());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn misuse_is_explained() {
    for (arguments, says) in [
        (&["--image", "wide"][..], "such as `1280x800`"),
        (&["--image", "0x5"], "such as `1280x800`"),
        (&["--steps", "0"], "1..=2000"),
        (&["--check", "--steps", "9"], "cannot be used with"),
        (&["--svg", "/nowhere/at/all.svg"], "cannot write `/nowhere/at/all.svg`"),
    ] {
        let output = run(&[&["simulate"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
    }
}

/// The tables and the plot of `docs/retention.md` are what the command prints today.
/// `PHOTIC_BLESS=1` rewrites them.
#[test]
fn the_page_on_retention_shows_what_the_command_prints() {
    let bless = std::env::var_os("PHOTIC_BLESS").is_some();
    let page_path = root().join("docs/retention.md");
    let mut page = std::fs::read_to_string(&page_path).unwrap();
    let kept = page.clone();
    for (name, arguments) in [
        ("session", &["simulate", "--for", "claude-opus-5"][..]),
        ("check", &["simulate", "--check"]),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
        let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let from = page.find(&start).unwrap() + start.len();
        let to = page.find(&end).unwrap();
        page.replace_range(from..to, &format!("```text\n{}```\n", stdout(&output)));
    }
    let drawn = std::env::temp_dir().join(format!("photic-retention-{}.svg", std::process::id()));
    run(&["simulate", "--for", "claude-opus-5", "--svg", drawn.to_str().unwrap()]);
    let plot = std::fs::read_to_string(&drawn).unwrap();
    std::fs::remove_file(drawn).unwrap();
    let plot_path = root().join("docs/retention.svg");
    if bless {
        std::fs::write(&page_path, &page).unwrap();
        std::fs::write(&plot_path, &plot).unwrap();
    } else {
        assert!(kept == page, "docs/retention.md is out of date: run with PHOTIC_BLESS=1");
        let kept = std::fs::read_to_string(plot_path).unwrap_or_default();
        assert!(kept == plot, "docs/retention.svg is out of date: run with PHOTIC_BLESS=1");
    }
}
