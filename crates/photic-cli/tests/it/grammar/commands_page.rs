//! `docs/command-line.md`: the rules of all commands, and a table of what every command supports. Each cell is the result of a run.

use std::fmt::Write as _;
use std::process::{Output, Stdio};

use photic_mock::{Chart, Misbehavior, Mock, Options};

use super::help::{commands, help};
use super::schema::{schema, unusual_words};
use super::{Folder, chat, piped};
use crate::{photic, root, run, stderr, stdout};

/// The runs for the cells of a command; empty for what the command does not have. Words in
/// braces are files and addresses of the test.
struct Row {
    name: &'static str,
    /// For a body that names a text-only model.
    body_model: &'static str,
    /// With a misspelled model.
    unknown_model: &'static str,
    json: &'static str,
    json_failure: &'static str,
    stdin: &'static str,
    codes: &'static [(i32, &'static str)],
}

const ROWS: &[Row] = &[
    Row {
        name: "check",
        body_model: "check {blind}",
        unknown_model: "check {typo}",
        json: "check {body}",
        json_failure: "check {missing}",
        stdin: "check -",
        codes: &[(0, "check {clean}"), (1, "check {body}"), (2, "check {missing}")],
    },
    Row {
        name: "lower",
        body_model: "lower {blind} --explain",
        unknown_model: "lower {typo}",
        json: "lower {body}",
        json_failure: "lower {missing}",
        stdin: "lower -",
        codes: &[(0, "lower {body}"), (2, "lower {missing}")],
    },
    Row {
        name: "explain",
        body_model: "explain {blind}",
        unknown_model: "explain {typo}",
        json: "explain {body}",
        json_failure: "explain {missing}",
        stdin: "explain -",
        codes: &[(0, "explain {body}"), (2, "explain {missing}")],
    },
    Row {
        name: "view",
        body_model: "view {blind} --image 1",
        unknown_model: "view {png} --for gtp-4o",
        json: "view {png}",
        json_failure: "view {missing}",
        stdin: "view - --image 1",
        codes: &[(0, "view {png}"), (1, "view {text} --tile 1"), (2, "view {missing}")],
    },
    Row {
        name: "read",
        json: "read {text}",
        json_failure: "read {png}",
        stdin: "read -",
        codes: &[(0, "read {text}"), (1, "read {png}"), (2, "read {text} --lines 0")],
        ..NOTHING
    },
    Row {
        name: "inspect",
        json: "inspect {png} colors? --model gpt-4o --base-url {mock}/v1",
        json_failure: "inspect {missing} colors? --model gpt-4o --base-url {mock}/v1",
        codes: &[
            (0, "inspect {png} colors? --model gpt-4o --base-url {mock}/v1"),
            (1, "inspect {missing} colors? --model gpt-4o --base-url {mock}/v1"),
            (2, "inspect {png}"),
        ],
        ..NOTHING
    },
    Row {
        name: "probe",
        json: "probe --model gpt-5.4 --base-url {mock}/v1 --paths user --no-learn --file {learned}",
        json_failure: "probe --model gpt-5.4 --wire nonsense",
        codes: &[
            (
                0,
                "probe --model gpt-5.4 --base-url {mock}/v1 --paths user --no-learn --file {learned}",
            ),
            (
                1,
                "probe --model gpt-5.4 --base-url {blind_mock}/v1 --paths user --no-learn --file {learned}",
            ),
            (2, "probe"),
        ],
        ..NOTHING
    },
    Row {
        name: "simulate",
        body_model: "simulate {blind} --steps 5",
        unknown_model: "simulate --steps 5 --for gtp-4o",
        json: "simulate --steps 5",
        json_failure: "simulate --steps 0",
        stdin: "simulate - --steps 5",
        codes: &[(0, "simulate --steps 5"), (2, "simulate --steps 0")],
    },
    Row { name: "mock", codes: &[(0, "mock --chart 7"), (2, "mock -o {out}")], ..NOTHING },
    Row { name: "serve", codes: &[(2, "serve --config {missing}")], ..NOTHING },
    Row { name: "extproc", codes: &[(2, "extproc --listen nowhere")], ..NOTHING },
    Row {
        name: "mcp",
        unknown_model: "mcp --root {folder} --for gtp-4o",
        codes: &[(0, "mcp --root {folder}"), (2, "mcp --root {missing}")],
        ..NOTHING
    },
    Row {
        name: "profiles",
        unknown_model: "profiles --for gtp-4o",
        json: "profiles --for gpt-4o",
        json_failure: "profiles --file {broken}",
        codes: &[
            (0, "profiles"),
            (1, "profiles --forget nowhere --file {learned}"),
            (2, "profiles --file {broken}"),
        ],
        ..NOTHING
    },
    Row {
        name: "profiles show",
        unknown_model: "profiles show gtp-4o",
        json: "profiles show gpt-4o",
        json_failure: "profiles show gpt-4o --base-url {mock} --file {broken}",
        codes: &[(0, "profiles show gpt-4o"), (2, "profiles show")],
        ..NOTHING
    },
    Row {
        name: "run",
        codes: &[
            (0, "run --quiet -- true"),
            (1, "run --quiet -- false"),
            (2, "run --config {missing} -- true"),
            (127, "run --quiet -- {missing}"),
        ],
        ..NOTHING
    },
    Row {
        name: "session ls",
        json: "session ls --store {store}",
        json_failure: "session ls --store {text}",
        codes: &[(0, "session ls --store {store}"), (2, "session ls --store {text}")],
        ..NOTHING
    },
    Row {
        name: "session show",
        json: "session show last --store {store}",
        json_failure: "session show none --store {store}",
        codes: &[
            (0, "session show last --store {store}"),
            (2, "session show none --store {store}"),
        ],
        ..NOTHING
    },
    Row {
        name: "session export",
        json: "session export last --store {store}",
        json_failure: "session export none --store {store}",
        codes: &[
            (0, "session export last --store {store}"),
            (2, "session export none --store {store}"),
        ],
        ..NOTHING
    },
    Row {
        name: "session images",
        json: "session images last --store {store}",
        json_failure: "session images none --store {store}",
        codes: &[
            (0, "session images last --store {store}"),
            (2, "session images none --store {store}"),
        ],
        ..NOTHING
    },
    Row {
        name: "session drop",
        json: "session drop last 1 --store {store}",
        json_failure: "session drop last 99 --store {store}",
        codes: &[
            (0, "session drop last 1 --store {store}"),
            (2, "session drop last 99 --store {store}"),
        ],
        ..NOTHING
    },
    Row {
        name: "session pin",
        json: "session pin last 1 --store {store}",
        json_failure: "session pin last 99 --store {store}",
        codes: &[
            (0, "session pin last 1 --store {store}"),
            (2, "session pin last 99 --store {store}"),
        ],
        ..NOTHING
    },
    Row {
        name: "session shrink",
        json: "session shrink last 1 --store {store}",
        json_failure: "session shrink last 99 --store {store}",
        codes: &[
            (0, "session shrink last 1 --store {store}"),
            (2, "session shrink last 99 --store {store}"),
        ],
        ..NOTHING
    },
    Row {
        name: "session import",
        body_model: "session import {blind} --store {store}",
        unknown_model: "session import {typo} --store {store}",
        json: "session import {body} --store {store}",
        json_failure: "session import {missing} --store {store}",
        stdin: "session import - --store {store}",
        codes: &[
            (0, "session import {body} --store {store}"),
            (2, "session import {missing} --store {store}"),
        ],
    },
    Row {
        name: "session forget",
        json: "session forget last --store {other}",
        json_failure: "session forget none --store {store}",
        codes: &[
            (0, "session forget last --store {store}"),
            (2, "session forget none --store {store}"),
        ],
        ..NOTHING
    },
    Row {
        name: "session gc",
        json: "session gc --store {store}",
        json_failure: "session gc --store {text}",
        codes: &[(0, "session gc --store {store}"), (2, "session gc --store {text}")],
        ..NOTHING
    },
    Row { name: "ui", codes: &[(2, "ui {missing}")], ..NOTHING },
    Row {
        name: "doctor",
        body_model: "doctor {blind}",
        unknown_model: "doctor {body} --for gtp-4o",
        json: "doctor {clean}",
        json_failure: "doctor {missing}",
        stdin: "doctor -",
        codes: &[(0, "doctor {clean}"), (1, "doctor {body}"), (2, "doctor {missing}")],
    },
    Row {
        name: "fleet status",
        json_failure: "fleet status --config {empty}",
        codes: &[(2, "fleet status --config {empty}")],
        ..NOTHING
    },
    Row {
        name: "key new",
        json: "key new ci",
        json_failure: "key new a%b",
        codes: &[(0, "key new ci"), (2, "key new a%b")],
        ..NOTHING
    },
    Row {
        name: "config",
        json: "config",
        json_failure: "config --config {missing}",
        codes: &[(0, "config"), (2, "config --config {missing}")],
        ..NOTHING
    },
    Row { name: "schema", codes: &[(0, "schema"), (2, "schema --what")], ..NOTHING },
    Row {
        name: "completions",
        codes: &[(0, "completions bash"), (2, "completions cmd")],
        ..NOTHING
    },
    Row { name: "man", codes: &[(0, "man lower"), (2, "man nothing")], ..NOTHING },
];

/// A command without anything.
const NOTHING: Row = Row {
    name: "",
    body_model: "",
    unknown_model: "",
    json: "",
    json_failure: "",
    stdin: "",
    codes: &[],
};

/// Commands that only group others, or do their work on servers of a fleet; those are tested there.
fn is_elsewhere(name: &str) -> bool {
    matches!(name, "session" | "fleet" | "key")
        || (name.starts_with("fleet ") && name != "fleet status")
}

/// Files and servers for the runs.
struct World {
    folder: Folder,
    mock: Mock,
    blind_mock: Mock,
}

impl World {
    fn new() -> Self {
        let folder = Folder::new("page");
        let clean = serde_json::json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]});
        for (name, content) in [
            ("body", chat("gpt-4o", 1).to_string()),
            ("blind", chat("gpt-3.5-turbo", 1).to_string()),
            ("typo", chat("gtp-4o", 1).to_string()),
            ("clean", clean.to_string()),
            ("text", "some words\n".repeat(10)),
            ("broken", "{".to_owned()),
            ("empty", String::new()),
        ] {
            folder.file(name, content);
        }
        folder.file("png", Chart::of(7).png().unwrap());
        let options = |misbehave: Vec<Misbehavior>| Options { misbehave, ..Options::default() };
        let world = Self {
            folder,
            mock: Mock::start(options(Vec::new())).unwrap(),
            blind_mock: Mock::start(options(vec![Misbehavior::DropImages])).unwrap(),
        };
        // A session that can be forgotten once more.
        let imported = world.run("session import {body} --store {other}", &[]);
        assert!(imported.status.success(), "{}", stderr(&imported));
        world
    }

    fn arguments(&self, command: &str) -> Vec<String> {
        let fill = |word: &str| {
            let mut word = word
                .replace("{mock}", &self.mock.url())
                .replace("{blind_mock}", &self.blind_mock.url())
                .replace("{folder}", &self.folder.path(""));
            while let Some((before, rest)) = word.split_once('{') {
                let (name, after) = rest.split_once('}').unwrap();
                word = format!("{before}{}{after}", self.folder.path(name));
            }
            word
        };
        command.split_whitespace().map(fill).collect()
    }

    fn run(&self, command: &str, more: &[&str]) -> Output {
        photic()
            .args(self.arguments(command))
            .args(more)
            .env("OPENAI_API_KEY", "sk-test")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn run_with_input(&self, command: &str) -> Output {
        let arguments = self.arguments(command);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        piped(&arguments, &std::fs::read(self.folder.path("body")).unwrap())
    }
}

/// The cells of a command: name, model from body, unknown model, JSON, JSON on failure, standard
/// input, exit codes, help.
fn cells(world: &World, row: &Row, vocabulary: &serde_json::Value) -> [String; 8] {
    let cell = |command: &str, holds: &dyn Fn(&str) -> bool| {
        let word = match command {
            "" => "–",
            command if holds(command) => "yes",
            _ => "no",
        };
        word.to_owned()
    };
    let both = |output: &Output| stdout(output) + &stderr(output);
    let names_model = |command: &str| {
        let words = both(&world.run(command, &[]));
        words.contains("gpt-3.5-turbo") || words.contains("openai-text-only")
    };
    let is_said =
        |command: &str| stderr(&world.run(command, &[])).contains("unknown model `gtp-4o`");
    let is_json = |command: &str| {
        let output = world.run(command, &["--json"]);
        let data = serde_json::from_slice(&output.stdout);
        data.is_ok_and(|data| {
            let found = unusual_words(vocabulary, &data, "");
            assert!(found.is_empty(), "{command}: {found:#?}");
            data.get("error").is_none()
        })
    };
    let is_failure = |command: &str| {
        let output = world.run(command, &["--json"]);
        let data: Result<serde_json::Value, _> = serde_json::from_slice(&output.stdout);
        !output.status.success()
            && data.is_ok_and(|data| {
                data["error"]["kind"].is_string() && data["error"]["message"].is_string()
            })
    };
    let is_read = |command: &str| {
        let output = world.run_with_input(command);
        matches!(output.status.code(), Some(0 | 1)) && !stderr(&output).contains("error:")
    };
    let codes = row.codes.iter().map(|&(code, command)| {
        let output = world.run(command, &[]);
        assert_eq!(output.status.code(), Some(code), "{command}: {}", both(&output));
        code.to_string()
    });
    let codes = codes.collect::<Vec<_>>().join(", ");
    let words: Vec<String> = row.name.split(' ').map(str::to_owned).collect();
    let has_example = |_: &str| help(&words).starts_with("Examples:\n");
    [
        format!("`photic {}`", row.name),
        cell(row.body_model, &names_model),
        cell(row.unknown_model, &is_said),
        cell(row.json, &is_json),
        cell(row.json_failure, &is_failure),
        cell(row.stdin, &is_read),
        codes,
        cell(row.name, &has_example),
    ]
}

/// The page. `PHOTIC_BLESS=1` rewrites it.
#[test]
fn the_page_of_commands_shows_what_every_command_supports() {
    let world = World::new();
    run(&["session", "import", &world.folder.path("body"), "--store", &world.folder.path("store")]);
    let schema = schema();
    let vocabulary = &schema["$defs"]["vocabulary"];
    let mut page = String::from(HEAD);
    let mut gaps = Vec::new();
    for row in ROWS {
        let cells = cells(&world, row, vocabulary);
        gaps.extend(cells.contains(&"no".to_owned()).then(|| cells.join(" | ")));
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
    page.push_str(VOCABULARY);
    for (name, property) in vocabulary["properties"].as_object().unwrap() {
        let _ = writeln!(page, "| `{name}` | {} |", property["description"].as_str().unwrap());
    }
    let path = root().join("docs/command-line.md");
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/command-line.md is out of date: PHOTIC_BLESS=1 writes it\n{page}");
    assert!(gaps.is_empty(), "these commands differ from the others:\n{}", gaps.join("\n"));
}

#[test]
fn every_command_has_a_row() {
    let all = commands().into_iter().map(|command| command.join(" "));
    let missing: Vec<String> = all
        .filter(|name| !is_elsewhere(name) && !ROWS.iter().any(|row| row.name == name))
        .collect();
    assert!(missing.is_empty(), "without a row: {missing:?}");
}

const HEAD: &str = "# The command line

Every command follows the same rules:

- A request is a file, or `-` for standard input. Its format is detected; `--from` names it.
- The model is the one that the body names. `--for MODEL` overrides it. A model that photic does not know is said on standard error, with the nearest name that it knows; so is a model that reads text only.
- Images, pages, lines, tiles and turns count from 1. Positions in a body are JSON pointers.
- `-o FILE` writes a file; its extension chooses the type. `--store DIR` is the directory for recorded sessions, media and answers. `--record` turns recording on.
- `--json` prints one JSON value on standard output, and nothing but notes on standard error. Its words are below, and its schema is [cli.schema.json](cli.schema.json).
- With `--json`, a failure is one object: `{\"error\": {\"kind\": …, \"message\": …, \"hint\": …}}`. The exit code is the same as without.
- Exit code 0 means yes, 1 means no (a finding, a refusal, a blind model), 2 an error or misuse. `photic run` exits with the code of the command that it runs.
- Flags override environment variables, which override the settings file. `photic config` shows what holds and where it comes from.

This table is written by the test that runs each of its cells (`crates/photic-cli/tests/it/grammar/commands_page.rs`). A dash stands for what a command does not have. The other commands of `photic fleet` need servers and are tested with them.

| command | model from body | unknown model is said | `--json` | `--json` on failure | standard input | exit codes | help with example |
|---|---|---|---|---|---|---|---|
";

const VOCABULARY: &str = "
## The words of `--json`

A word means the same in the output of every command. What is not known is left out.

| word | meaning |
|---|---|
";
