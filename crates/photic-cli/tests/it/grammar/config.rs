//! `photic config`: which settings hold, and where they come from.

use std::process::Output;

use serde_json::Value;

use super::{Folder, data};
use crate::{photic, run, stderr, stdout};

fn setting<'r>(report: &'r Value, name: &str) -> &'r Value {
    let settings = report["settings"].as_array().unwrap();
    settings.iter().find(|row| row["name"] == name).unwrap()
}

fn with(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    photic()
        .args([&["config"], arguments].concat())
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn every_setting_has_its_origin() {
    let folder = Folder::new("origins");
    let file = folder.file("photic.toml", "listen = '127.0.0.1:5000'\n[limits]\nbody_mib = 7\n");
    let report = data(&with(
        &[("PHOTIC_CONFIG", &file), ("OTEL_SERVICE_NAME", "mine")],
        &["--json", "--log", "json"],
    ));
    assert_eq!((&report["file"], &report["file_from"]), (&file.into(), &"variable".into()));
    for (name, value, from, named_by) in [
        ("listen", Value::from("127.0.0.1:5000"), "file", None),
        ("limits.body_mib", 7.into(), "file", None),
        ("log", "json".into(), "flag", Some("--log")),
        ("telemetry.service", "mine".into(), "variable", Some("OTEL_SERVICE_NAME")),
        ("policy.retention", "all".into(), "default", None),
    ] {
        let row = setting(&report, name);
        assert_eq!((&row["value"], &row["from"]), (&value, &from.into()), "{name}");
        assert_eq!(row["named_by"].as_str(), named_by, "{name}");
    }
    // A flag overrides the file.
    let report = data(&run(&["config", "--json", "--listen", "127.0.0.1:1"]));
    let row = setting(&report, "listen");
    assert_eq!((&row["value"], &row["from"]), (&"127.0.0.1:1".into(), &"flag".into()));
    assert_eq!(report["file_from"], "none");
}

#[test]
fn the_users_own_file_is_found_and_that_of_the_folder_is_not() {
    let folder = Folder::new("own");
    let own = folder.path("config/photic/photic.toml");
    std::fs::create_dir_all(folder.path("config/photic")).unwrap();
    std::fs::write(&own, "log = 'off'\n").unwrap();
    folder.file("photic.toml", "listen = '127.0.0.1:6666'\n");
    let output = photic()
        .arg("config")
        .env("XDG_CONFIG_HOME", folder.path("config"))
        .current_dir(&folder.0)
        .output()
        .unwrap();
    let words = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(words.contains(&format!("settings from `{own}` (your own file)")), "{words}");
    assert!(words.contains("`photic.toml` in this folder is ignored"), "{words}");
    assert!(!words.contains("6666"), "{words}");
}

#[test]
fn no_secret_is_shown() {
    let folder = Folder::new("secrets");
    let file = folder.file(
        "photic.toml",
        "[fleet]\npostgres = 'host=h password=hunter2'\n\
         [[upstream]]\nurl = 'http://me:hunter2@127.0.0.1:1/v1?key=hunter2'\n",
    );
    let variables = [
        ("PHOTIC_CONFIG", file.as_str()),
        ("OPENAI_API_KEY", "sk-hunter2"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:hunter2@127.0.0.1:4318"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2"),
    ];
    for arguments in [&[][..], &["--json"]] {
        let output = with(&variables, arguments);
        let words = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{words}");
        assert!(!words.contains("hunter2"), "{words}");
        assert!(words.contains("OPENAI_API_KEY"), "{words}");
        assert!(words.contains("http://127.0.0.1:1/v1"), "{words}");
    }
    // Nor by the error of a file that cannot be read.
    for broken in
        ["[fleet]\npostgres = postgres://me:hunter2@h/db\n", "hosts = 'http://me:hunter2@h'\n"]
    {
        let file = folder.file("broken.toml", broken);
        for arguments in [&["--config", &file][..], &["--config", &file, "--json"]] {
            let output = with(&[], arguments);
            let words = stdout(&output) + &stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{words}");
            assert!(words.contains("line ") && !words.contains("hunter2"), "{words}");
        }
    }
}
