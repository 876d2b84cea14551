//! Tests of the table of agents and of what is added for them.

use std::path::PathBuf;

use super::*;

/// A home folder with files.
struct Home(PathBuf);

impl Home {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("photic-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Self(path)
    }

    /// The launch of a command for a user with this home.
    fn launched(&self, command: &[&str], set: &[(&str, &str)]) -> Launch {
        self.prepared(command, set, false)
    }

    /// The launch of a command whose requests go to a server that a flag names.
    fn flagged(&self, command: &[&str]) -> Launch {
        self.prepared(command, &[], true)
    }

    fn prepared(&self, command: &[&str], set: &[(&str, &str)], is_flagged: bool) -> Launch {
        let home = ("HOME", self.0.to_str().unwrap());
        let environment: Environment = set.iter().copied().chain([home]).collect();
        let bases = BaseUrls::new(&environment, &[]).unwrap();
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let mut launch = Launch::new(&command);
        launch.set("GOOGLE_GEMINI_BASE_URL", format!("{GATEWAY}/google"));
        let agent = recognize(&command).unwrap().unwrap();
        agent.prepare(&mut launch, &environment, &bases, is_flagged).unwrap();
        launch.fill("http://g", "/s");
        launch
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn value<'l>(launch: &'l Launch, name: &str) -> Option<&'l str> {
    launch.environment.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
}

#[test]
fn agents_are_recognized_by_name_path_and_package() {
    for (command, name, arguments) in [
        ("codex exec hi", "Codex", 1),
        ("/usr/bin/codex", "Codex", 1),
        ("npx -y @openai/codex@latest exec", "Codex", 3),
        ("npx @openai/codex exec", "Codex", 2),
        ("pnpm dlx @google/gemini-cli", "Gemini CLI", 3),
        ("env A=b claude -p x", "Claude Code", 3),
        ("node node_modules/.bin/pi", "pi", 2),
        ("uvx openhands", "OpenHands", 2),
        ("npx -p @openai/codex codex exec", "Codex", 4),
        ("npx --package @openai/codex -y codex", "Codex", 5),
        ("uvx --python 3.12 --from openhands openhands", "OpenHands", 6),
        ("npm exec @openai/codex -- exec hi", "Codex", 4),
        ("/opt/homebrew/opt/node@22/bin/codex", "Codex", 1),
        ("node node_modules/@openai/codex/bin/codex.js", "Codex", 2),
        ("npx opencode-ai@1.18.33 run", "opencode", 2),
    ] {
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        let found = recognize(&words).unwrap().unwrap();
        assert_eq!((found.agent.name.as_str(), found.arguments), (name, arguments), "{command}");
        assert!(found.hint().starts_with(name), "{}", found.hint());
    }
    for command in ["sh -c codex", "npx", "python agent.py", ""] {
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        assert!(recognize(&words).unwrap().is_none(), "{command}");
    }
}

#[test]
fn codex_gets_its_setting_before_its_subcommand() {
    let home = Home::new("codex-plain", &[]);
    let launch = home.launched(&["npx", "codex", "exec", "hi"], &[]);
    let setting = "openai_base_url=\"http://g/openai/v1\"";
    assert_eq!(launch.command, ["npx", "codex", "-c", setting, "exec", "hi"]);
    // npm takes options for its own up to `--`.
    for (command, expected) in [
        ("npm exec @openai/codex -- exec hi", "npm exec @openai/codex -- -c S exec hi"),
        ("npm x @openai/codex exec", "npm x @openai/codex -- -c S exec"),
        ("npm exec -p @openai/codex -- codex exec", "npm exec -p @openai/codex -- codex -c S exec"),
        ("npx -p @openai/codex codex exec", "npx -p @openai/codex codex -c S exec"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let launch = home.launched(&words, &[]);
        let words: Vec<&str> = launch.command.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words.join(" ").replace(setting, "S"), expected);
    }
    let own = ["codex", "-c", "openai_base_url=\"http://mine\""];
    assert_eq!(home.launched(&own, &[]).command, own);
    for own in [
        &["codex", "-c", "model_provider=x", "-c", "model_providers.x={base_url=\"http://m\"}"][..],
        &["codex", "--oss"],
    ] {
        assert_eq!(home.launched(own, &[]).command, own);
    }
}

#[test]
fn codex_goes_where_its_settings_lead() {
    let config = "model_provider = \"mine\"\n[model_providers.mine]\nbase_url = \"http://m/v1\"\n\
                  [profiles.usual]\nmodel_provider = \"openai\"\nopenai_base_url = \"http://u/v1\"";
    let home = Home::new("codex-provider", &[(".codex/config.toml", config)]);
    let launch = home.launched(&["codex"], &[]);
    let setting = "model_providers.mine.base_url=\"http://g/codex-provider/v1\"";
    assert_eq!(launch.command, ["codex", "-c", setting]);
    assert_eq!(launch.destinations[0].url(), "http://m");
    let launch = home.launched(&["codex", "--profile=usual"], &[]);
    let setting = "openai_base_url=\"http://g/codex/v1\"";
    assert_eq!(launch.command, ["codex", "-c", setting, "--profile=usual"]);
    assert_eq!(launch.destinations[0].url(), "http://u");
}

#[test]
fn a_login_with_chatgpt_stays_with_chatgpt() {
    let login = r#"{"OPENAI_API_KEY":null,"tokens":{"access_token":"x"}}"#;
    let home = Home::new("codex-login", &[(".codex/auth.json", login)]);
    let launch = home.launched(&["codex"], &[]);
    assert_eq!(launch.command[2], "openai_base_url=\"http://g/chatgpt\"");
    assert_eq!(launch.destinations[0].url(), "https://chatgpt.com/backend-api/codex");
    // Codex reads neither variable here, so both leave the login where it belongs.
    for set in [("CODEX_API_KEY", "k"), ("OPENAI_BASE_URL", "http://router/v1")] {
        let launch = home.launched(&["codex", "-m", "exec"], &[set]);
        assert_eq!(launch.command[2], "openai_base_url=\"http://g/chatgpt\"", "{set:?}");
    }
    let exec = home.launched(&["codex", "-m", "m", "exec", "hi"], &[("CODEX_API_KEY", "k")]);
    assert_eq!(exec.command[2], "openai_base_url=\"http://g/openai/v1\"");
    // The user names a server for this run.
    let flagged = home.flagged(&["codex"]);
    assert_eq!(flagged.command[2], "openai_base_url=\"http://g/openai/v1\"");
}

#[test]
fn a_saved_key_of_codex_stays_with_openai() {
    let home = Home::new("codex-key", &[(".codex/auth.json", r#"{"OPENAI_API_KEY":"k"}"#)]);
    let launch = home.launched(&["codex"], &[]);
    assert_eq!(launch.command[2], "openai_base_url=\"http://g/openai/v1\"");
    let launch = home.launched(&["codex"], &[("OPENAI_BASE_URL", "http://router/v1")]);
    assert_eq!(launch.command[2], "openai_base_url=\"http://g/codex/v1\"");
    assert_eq!(launch.destinations[0].url(), "https://api.openai.com");
}

#[test]
fn a_login_of_codex_that_cannot_be_read_is_left_alone() {
    let login = r#"{"tokens":{"access_token":"x"}}"#;
    let files = [
        (".codex/auth.json", login),
        (".codex/config.toml", "cli_auth_credentials_store = \"keyring\""),
    ];
    let auto = ["codex", "-c", "cli_auth_credentials_store=\"auto\""];
    let keyring = Home::new("codex-keyring", &files);
    let fresh = Home::new("codex-fresh", &[]);
    let other = Home::new("codex-other", &[(".codex/auth.json", r#"{"auth_mode":"new"}"#)]);
    for (home, command, set) in [
        (&keyring, &auto[..1], ("OPENAI_BASE_URL", "http://router/v1")),
        (&fresh, &auto, ("X", "y")),
        (&fresh, &auto[..1], ("X", "y")),
        (&fresh, &auto[..1], ("CODEX_ACCESS_TOKEN", "t")),
        (&other, &auto[..1], ("X", "y")),
    ] {
        let launch = home.launched(command, &[set]);
        assert_eq!(launch.command, command);
        assert_eq!(launch.notes.len(), 1, "{:?}", launch.notes);
    }
    let exec = keyring.launched(&["codex", "exec"], &[("CODEX_API_KEY", "k")]);
    assert_eq!(exec.command[2], "openai_base_url=\"http://g/openai/v1\"");
    assert!(exec.notes.is_empty());
    let fallback = Home::new("codex-auto", &files[..1]).launched(&auto, &[]);
    assert_eq!(fallback.command[2], "openai_base_url=\"http://g/chatgpt\"");
}

#[test]
fn local_models_of_codex_have_a_variable() {
    let home = Home::new("codex-oss", &[]);
    let launch = home.launched(&["codex", "--oss", "--local-provider", "ollama"], &[]);
    assert_eq!(value(&launch, "CODEX_OSS_BASE_URL"), Some("http://g/codex-oss/v1"));
    assert_eq!(launch.destinations[0].url(), "http://127.0.0.1:11434");
    assert!(launch.added.is_empty());
}

#[test]
fn a_fresh_gemini_cli_gets_a_home_with_a_login() {
    let home = Home::new("gemini-fresh", &[(".gemini/settings.json", r#"{"theme":"x"}"#)]);
    let launch = home.launched(&["gemini"], &[("GEMINI_API_KEY", "k")]);
    assert_eq!(value(&launch, "GEMINI_CLI_HOME"), Some("/s/home"));
    assert!(value(&launch, "GOOGLE_GEMINI_BASE_URL").is_some());
    let text: serde_json::Value = serde_json::from_str(&launch.files[0].text).unwrap();
    assert_eq!(text["security"]["auth"]["selectedType"], "gemini-api-key");
    assert_eq!(text["theme"], "x");
    assert!(!launch.files[0].text.contains("\"k\""));
    assert_eq!(launch.overlays.len(), 2);
}

#[test]
fn a_gemini_cli_that_would_break_is_left_alone() {
    let saved = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#;
    let home = Home::new("gemini-saved", &[(".gemini/settings.json", saved)]);
    let launch = home.launched(&["gemini"], &[("GEMINI_API_KEY", "k")]);
    assert!(launch.files.is_empty());
    assert!(value(&launch, "GOOGLE_GEMINI_BASE_URL").is_some());
    for (name, text, set) in [
        ("gemini-keyless", "{}", ("X", "y")),
        ("gemini-comments", "{ // mine\n}", ("GEMINI_API_KEY", "k")),
    ] {
        let home = Home::new(name, &[(".gemini/settings.json", text)]);
        let launch = home.launched(&["gemini"], &[set]);
        assert!(launch.files.is_empty(), "{name}");
        assert_eq!(value(&launch, "GOOGLE_GEMINI_BASE_URL"), None, "{name}");
    }
}

#[test]
fn the_urls_of_a_configuration_lead_through_the_gateway() {
    let models = r#"{"providers":{"mine":{"baseUrl":"http://m/v1","apiKey":"k"}}}"#;
    let home = Home::new("pi-models", &[(".pi/agent/models.json", models)]);
    let launch = home.launched(&["pi", "-p"], &[]);
    assert_eq!(value(&launch, "PI_CODING_AGENT_DIR"), Some("/s/pi"));
    let text: serde_json::Value = serde_json::from_str(&launch.files[0].text).unwrap();
    assert_eq!(text["providers"]["mine"]["baseUrl"], "http://g/pi-1/v1");
    assert_eq!(text["providers"]["anthropic"]["baseUrl"], "http://g/anthropic");
    assert_eq!(text["providers"]["openai"]["baseUrl"], "http://g/openai/v1");
    assert_eq!(launch.destinations[0].url(), "http://m");
    assert_eq!(launch.files[0].path, PathBuf::from("pi/models.json"));
    let fresh = Home::new("pi-fresh", &[]).launched(&["pi"], &[]);
    assert_eq!(fresh.files[0].copy_of, None);
}

#[test]
fn a_file_that_the_user_names_is_not_replaced() {
    let config = "models:\n  - provider: openai\n    apiBase: http://m/v1\n";
    let home = Home::new("continue", &[(".continue/config.yaml", config)]);
    let launch = home.launched(&["cn", "-p", "hi"], &[]);
    assert_eq!(launch.command, ["cn", "--config", "/s/cn/config.yaml", "-p", "hi"]);
    assert!(launch.files[0].text.contains("apiBase: \"http://g/cn-1/v1\""));
    let own = ["cn", "--config", "mine.yaml"];
    assert_eq!(home.launched(&own, &[]).command, own);
    assert_eq!(Home::new("continue-none", &[]).launched(&["cn"], &[]).command, ["cn"]);
}

#[test]
fn every_hint_names_a_setting_or_says_that_there_is_none() {
    for agent in table().unwrap() {
        let hint = Recognized { agent, arguments: 1, needs_separator: false }.hint();
        let is_foreign = hint.contains("not a model's API");
        assert!(is_foreign || hint.matches('`').count() >= 2, "{hint}");
    }
}
