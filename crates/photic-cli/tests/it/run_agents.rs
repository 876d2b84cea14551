//! `photic run` with commands that have the names of agents.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{photic, stderr, stdout};

/// A home with commands that are scripts, in a folder of its own.
fn home(name: &str, commands: &[(&str, &str)]) -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("agents-{name}"));
    let _ = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(home.join("bin")).unwrap();
    for (command, script) in commands {
        let path = home.join("bin").join(command);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    home
}

/// `photic run` of a user with this home, and with nothing else in the environment.
fn behind(home: &Path) -> Command {
    let mut command = photic();
    command.env_clear().env("HOME", home).env("TMPDIR", home).env("NO_COLOR", "1");
    command.env("PATH", format!("{}/bin:/usr/bin:/bin", home.display()));
    command.arg("run").stdin(Stdio::null());
    command
}

#[test]
fn print_shows_what_would_be_set_and_runs_nothing() {
    let home = home("print", &[("codex", "touch $HOME/ran")]);
    let output =
        behind(&home).args(["--print", "--", "codex", "exec", "two words"]).output().unwrap();
    let text = stdout(&output);
    let command = "command   codex -c 'openai_base_url=\"http://127.0.0.1:PORT/TOKEN/openai/v1\"' exec \
                   'two words'\n";
    assert!(text.starts_with("agent     Codex\n"), "{text}{}", stderr(&output));
    assert!(text.contains(command), "{text}");
    assert!(text.contains("ANTHROPIC_BASE_URL=http://127.0.0.1:PORT/TOKEN/anthropic\n"), "{text}");
    assert!(text.contains("upstream  openai-chat https://api.openai.com\n"), "{text}");
    assert!(!home.join("ran").exists());
}

#[test]
fn print_writes_variables_for_a_gateway_that_stays() {
    let home = home("print-env", &[]);
    let output = behind(&home).args(["--print", "env"]).output().unwrap();
    let text = stdout(&output);
    assert!(text.contains("\nexport OPENAI_BASE_URL=http://127.0.0.1:4141/v1\n"), "{text}");
    assert!(text.contains("\nexport ANTHROPIC_BASE_URL=http://127.0.0.1:4141\n"), "{text}");
    // A shell takes it as it is.
    let script = format!("{text}\necho $OPENAI_API_BASE");
    let shell = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(stdout(&shell), "http://127.0.0.1:4141/v1\n");
    // A fresh Gemini CLI would fail with it.
    assert!(text.contains("\n# export GOOGLE_GEMINI_BASE_URL="), "{text}");
    let output =
        behind(&home).env("AZURE_OPENAI_ENDPOINT", "http://a").args(["--print", "env"]).output();
    assert!(stdout(&output.unwrap()).contains("# AZURE_OPENAI_ENDPOINT: only `photic run`"));
    let output = behind(&home).args(["--port", "5000", "--print", "docker"]).output().unwrap();
    let text = stdout(&output);
    assert!(text.starts_with("--add-host=host.docker.internal:host-gateway\n-e "), "{text}");
    assert!(text.contains("\n-e OPENAI_BASE_URL=http://host.docker.internal:5000/v1\n"), "{text}");
    // A shell splits it into options: a note would be taken for one.
    assert!(text.lines().all(|line| line.starts_with('-')), "{text}");
    assert!(stderr(&output).contains("photic serve --open --listen 172.17.0.1:5000"));
}

#[test]
fn print_leaves_the_users_own_urls_to_an_upstream() {
    let home = home("print-own", &[]);
    let print = |url: &str, format: &str| {
        behind(&home).env("OPENAI_BASE_URL", url).args(["--print", format]).output().unwrap()
    };
    let text = stdout(&print("https://api.deepseek.com/v1", "env"));
    // The whole family: a client may read another of its variables first.
    assert!(!text.contains("\nexport OPENAI_"), "{text}");
    let says = "`photic serve --upstream openai-chat=https://api.deepseek.com/v1 \
                --upstream openai-responses=https://api.deepseek.com/v1`";
    for name in ["OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_HOST"] {
        let line = text.lines().find(|line| line.starts_with(&format!("# export {name}=")));
        assert!(line.is_some_and(|line| line.contains(says)), "{text}");
    }
    assert!(text.contains("\nexport ANTHROPIC_BASE_URL="), "{text}");
    let script = format!("{text}\necho $OPENAI_BASE_URL");
    let mut shell = Command::new("sh");
    shell.env("OPENAI_BASE_URL", "mine").args(["-c", &script]);
    assert_eq!(stdout(&shell.output().unwrap()), "mine\n");
    // Its own variables, taken a second time.
    let again = stdout(&print("http://127.0.0.1:4141/v1", "env"));
    assert!(again.contains("\nexport OPENAI_BASE_URL=http://127.0.0.1:4141/v1\n"), "{again}");

    let again = stdout(&print("http://127.0.0.1:4141/v1", "docker"));
    assert!(again.contains("\n-e OPENAI_BASE_URL="), "{again}");
    let docker = print("https://api.deepseek.com/v1", "docker");
    assert!(!stdout(&docker).contains("-e OPENAI_BASE_URL="), "{}", stdout(&docker));
    assert!(stdout(&docker).lines().all(|line| line.starts_with('-')));
    let says = "photic serve --open --listen 172.17.0.1:4141 --upstream openai-chat=https";
    assert!(stderr(&docker).contains(says), "{}", stderr(&docker));
}

#[test]
fn a_login_that_photic_cannot_read_is_said_before_the_command_starts() {
    let home = home("note", &[("codex", "exit 3")]);
    let output = behind(&home).args(["--", "codex"]).output().unwrap();
    assert!(stderr(&output).starts_with("photic: Codex is not logged in"), "{}", stderr(&output));
    let output = behind(&home).args(["--quiet", "--", "codex"]).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(3), ""));
}

#[test]
fn a_known_agent_without_requests_gets_its_own_hint() {
    let home = home("hint", &[("codex", "exit 3"), ("unknown", "exit 4")]);
    let output = behind(&home).args(["--", "codex", "exec"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(said.starts_with("photic: no requests; Codex: its base URL is a setting: "), "{said}");
    let output = behind(&home).args(["--", "unknown"]).output().unwrap();
    assert!(stderr(&output).contains("the command may not read `OPENAI_BASE_URL`"));
}

#[test]
fn an_agent_gets_a_copy_of_its_configuration_that_is_gone_at_the_end() {
    let script = "stat -c %a $PI_CODING_AGENT_DIR $PI_CODING_AGENT_DIR/models.json\n\
                  cat $PI_CODING_AGENT_DIR/models.json $PI_CODING_AGENT_DIR/auth.json\n\
                  echo new > $PI_CODING_AGENT_DIR/settings.json";
    let home = home("copy", &[("pi", script)]);
    let agent = home.join(".pi/agent");
    std::fs::create_dir_all(&agent).unwrap();
    let models = r#"{"providers":{"mine":{"baseUrl":"http://mine.example/v1","apiKey":"k"}}}"#;
    std::fs::write(agent.join("models.json"), models).unwrap();
    std::fs::write(agent.join("auth.json"), "login").unwrap();
    let output = behind(&home).args(["--quiet", "--", "pi", "-p"]).output().unwrap();
    let text = stdout(&output);
    assert!(text.starts_with("700\n600\n{"), "{text}{}", stderr(&output));
    assert!(text.ends_with("}\nlogin"), "{text}");
    assert!(text.contains("/pi-1/v1\"") && !text.contains("mine.example"), "{text}");
    let read = |name: &str| std::fs::read_to_string(agent.join(name)).unwrap();
    assert_eq!([read("models.json"), read("settings.json")], [models, "new\n"]);
    let left: Vec<_> =
        std::fs::read_dir(&home).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("photic-run-")), "{left:?}");
}

#[test]
fn a_report_counts_turns() {
    let home = home("report", &[]);
    let report = home.join("report.json");
    let mut command = behind(&home);
    command.args(["--quiet", "--report"]).arg(&report).args(["--", "true"]);
    assert!(command.status().unwrap().success());
    let counts: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(counts["turns"], 0);
    assert_eq!(counts["bytes_in"], 0);
}

#[test]
fn a_report_that_cannot_be_written_does_not_hide_the_exit_code() {
    let home = home("no-report", &[]);
    let run = |report: &str, script: &str| {
        behind(&home).args(["--quiet", "--report", report, "--", "sh", "-c", script]).output()
    };
    // It is opened first, so the command does not run in vain.
    let output = run("/nowhere/report.json", "touch $HOME/ran").unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write `/nowhere/report.json`"), "{}", stderr(&output));
    assert!(!home.join("ran").exists());
    #[cfg(target_os = "linux")]
    {
        let output = run("/dev/full", "exit 3").unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("cannot write `/dev/full`"), "{}", stderr(&output));
    }
}
