//! The schema of the settings and the file with every default, both generated from the types.

use std::path::{Path, PathBuf};

use photic_gateway::Config;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file in the repository with a text, or writes it with `PHOTIC_BLESS=1`.
fn committed(path: &str, expected: &str) {
    let path = root().join(path);
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{} is out of date: PHOTIC_BLESS=1 writes it", path.display());
}

#[test]
fn the_documents_list_the_envelopes() {
    const START: &str = "<!-- envelopes: written by a test -->\n";
    let page = std::fs::read_to_string(root().join("docs/gateway.md")).unwrap();
    let (before, rest) = page.split_once(START).unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let mut table = String::from("| path | wire | from |\n|---|---|---|\n");
    for envelope in photic::wire::Envelope::all() {
        let line =
            format!("| `…{}` | {} | {} |\n", envelope.path(), envelope.wire, envelope.source());
        table.push_str(&line);
    }
    committed("docs/gateway.md", &[before, START, &table, "<!-- end -->", after].concat());
}

#[test]
fn the_schema_is_committed() {
    let schema = Config::schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    committed("docs/photic.schema.json", &format!("{schema:#}\n"));
}

#[test]
fn the_file_of_defaults_holds_the_defaults() {
    let example = Config::example();
    committed("docs/photic.toml", &example);
    assert!(example.starts_with("#:schema photic.schema.json\n"));
    assert_eq!(Config::parse(&example).unwrap(), Config::default());
    // Commented settings are valid, too.
    let open = |line: &str| match line.strip_prefix("# ") {
        Some(setting) if setting.starts_with("[[") || is_setting(setting) => setting.to_owned(),
        _ => line.to_owned(),
    };
    let opened: Vec<String> = example.lines().map(open).collect();
    let opened = Config::parse(&opened.join("\n")).unwrap();
    assert_eq!(opened.upstream.len(), 1);
    assert!(opened.admin.listen.is_some() && opened.telemetry.otlp.is_some());
}

fn is_setting(line: &str) -> bool {
    let name = line.split_once(" = ").map(|(name, _)| name);
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
}

/// Every setting has a description, and is in the file.
#[test]
fn every_setting_is_described() {
    fn walk(schema: &Value, path: &str, example: &str) {
        for (name, property) in schema["properties"].as_object().unwrap() {
            let path = format!("{path}.{name}");
            assert!(property["description"].is_string(), "{path}");
            for inner in [property, &property["items"]] {
                if inner["properties"].is_object() {
                    assert_eq!(inner["additionalProperties"], false, "{path}");
                    walk(inner, &path, example);
                }
            }
            let set = [format!("{name} = "), format!("[{name}]")];
            assert!(set.iter().any(|set| example.contains(set)), "{path}");
        }
    }
    walk(&Config::schema(), "", &Config::example());
}

/// An independent validator checks these files against the schema, too, in the slow suite.
#[test]
fn samples_are_read_as_they_are_meant() {
    for (folder, good) in [("good", true), ("bad", false)] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/settings").join(folder);
        let files: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() > 2);
        for file in files {
            let read = Config::parse(&std::fs::read_to_string(&file).unwrap());
            assert_eq!(read.is_ok(), good, "{}: {read:?}", file.display());
        }
    }
}
