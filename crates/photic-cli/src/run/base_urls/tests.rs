//! Tests of the table of base URLs.

use super::*;

fn bases(set: &[(&str, &str)], named: &[&str]) -> anyhow::Result<BaseUrls> {
    let environment = set.iter().copied().collect();
    let named: Vec<UpstreamConfig> = named.iter().map(|one| one.parse().unwrap()).collect();
    BaseUrls::new(&environment, &named)
}

/// Variables with their values.
type Set<'s> = &'s [(&'s str, &'s str)];

/// The launch of a command with this environment.
fn launched(set: &[(&str, &str)]) -> Launch {
    let bases = bases(set, &[]).unwrap();
    let mut upstreams: Vec<UpstreamConfig> = bases.upstreams().collect();
    complete_families(&mut upstreams).unwrap();
    let mut launch = Launch::default();
    bases.set(&mut launch, &upstreams);
    launch.fill("http://127.0.0.1:1/t", "");
    launch
}

fn value<'l>(launch: &'l Launch, name: &str) -> Option<&'l str> {
    launch.environment.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
}

/// The upstream with a prefix.
fn upstream(set: &[(&str, &str)], prefix: &str) -> Option<(String, Option<String>)> {
    let mut found = bases(set, &[]).unwrap().upstreams().collect::<Vec<_>>().into_iter();
    let found = found.find(|one| one.prefix.as_deref() == Some(prefix))?;
    Some((found.url, found.region))
}

#[test]
fn what_was_set_is_where_requests_go() {
    let set = [("OPENAI_BASE_URL", "http://h/v4"), ("ANTHROPIC_API_URL", "http://a/api")];
    let found: Vec<_> = bases(&set, &[])
        .unwrap()
        .upstreams()
        .map(|one| (one.url, one.wire.unwrap(), one.unversioned))
        .collect();
    assert_eq!(
        found,
        [
            ("http://h/v4".to_owned(), Wire::OpenAiChat, true),
            ("http://h/v4".to_owned(), Wire::OpenAiResponses, true),
            ("http://a/api".to_owned(), Wire::Anthropic, false),
        ]
    );
    assert_eq!(bases(&[("OPENAI_BASE_URL", " ")], &[]).unwrap().upstreams().count(), 0);
}

#[test]
fn one_gateway_stands_for_one_place() {
    let same = [("OPENAI_BASE_URL", "http://h/v1/"), ("OPENAI_HOST", "http://h")];
    assert_eq!(bases(&same, &[]).unwrap().upstreams().count(), 2);
    let other = [("OPENAI_BASE_URL", "http://h/v1"), ("OPENAI_API_BASE", "http://g/v1")];
    let says = bases(&other, &[]).unwrap_err().to_string();
    assert!(says.contains("`OPENAI_BASE_URL` and `OPENAI_API_BASE`"), "{says}");
    assert_eq!(bases(&other, &["http://mine"]).unwrap().upstreams().count(), 0);
    assert!(bases(&other, &["anthropic=http://mine"]).is_err());
}

#[test]
fn what_cannot_be_used_is_named_and_keeps_its_secrets() {
    for name in ["ANTHROPIC_HOST", "AZURE_OPENAI_ENDPOINT"] {
        let says = |url: &str| bases(&[(name, url)], &[]).unwrap_err().to_string();
        assert!(says("ftp://h").starts_with(&format!("`{name}`: `ftp://h` does not begin")));
        let login = says("http://u:secret@h");
        assert!(login.starts_with(&format!("`{name}`: the URL contains a user name")), "{login}");
        assert!(!login.contains("secret"));
    }
}

#[test]
fn hosts_of_ollama_are_completed() {
    for (host, url) in [
        ("http://h:1", "http://h:1"),
        ("h", "http://h:11434"),
        ("h:1", "http://h:1"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":1", "http://127.0.0.1:1"),
    ] {
        let found: Vec<_> = bases(&[("OLLAMA_HOST", host)], &[]).unwrap().upstreams().collect();
        assert_eq!((found[0].url.as_str(), found[0].wire), (url, Some(Wire::Ollama)));
    }
}

#[test]
fn amazon_is_where_its_region_is() {
    const NAME: &str = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME";
    let region = ("AWS_REGION", "eu-west-1");
    let signed = |url: &str| Some((url.to_owned(), Some("eu-west-1".to_owned())));
    let own = "https://bedrock-runtime.eu-west-1.amazonaws.com";
    assert_eq!(upstream(&[region], "bedrock"), signed(own));
    assert_eq!(value(&launched(&[region]), NAME), Some("http://127.0.0.1:1/t/bedrock"));
    assert_eq!(upstream(&[region, (NAME, "http://e")], "bedrock"), signed("http://e"));
    // A server for all services is read, and left as it is for the others.
    let all = [region, ("AWS_ENDPOINT_URL", "http://all")];
    assert_eq!(upstream(&all, "bedrock"), signed("http://all"));
    assert_eq!(value(&launched(&all), "AWS_ENDPOINT_URL"), None);
    for nowhere in [&[][..], &[("AWS_REGION", "a/b")]] {
        assert_eq!(upstream(nowhere, "bedrock"), None);
        assert_eq!(value(&launched(nowhere), NAME), None);
    }
}

#[test]
fn amazon_without_a_region_needs_an_upstream_for_all_its_models() {
    const NAME: &str = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME";
    let set = |wire: Option<Wire>, models: &[&str]| {
        let models = models.iter().map(|model| (*model).to_owned()).collect();
        let mut upstreams =
            vec![UpstreamConfig { models, ..UpstreamConfig::new("http://m", wire) }];
        complete_families(&mut upstreams).unwrap();
        let mut launch = Launch::default();
        bases(&[], &[]).unwrap().set(&mut launch, &upstreams);
        assert!(value(&launch, "OPENAI_BASE_URL").is_some());
        value(&launch, NAME).is_some()
    };
    assert!(!set(None, &["gpt-*"]));
    assert!(!set(Some(Wire::OpenAiChat), &["gpt-*"]));
    assert!(set(Some(Wire::OpenAiChat), &["*"]));
    assert!(set(Some(Wire::BedrockConverse), &[]));
    assert!(set(None, &[]));
}

#[test]
fn a_default_provider_gets_only_keys_that_it_issued() {
    let base = [("ANTHROPIC_BASE_URL", "http://a")];
    let mut upstreams: Vec<UpstreamConfig> = bases(&base, &[]).unwrap().upstreams().collect();
    complete_families(&mut upstreams).unwrap();
    for one in upstreams {
        assert_eq!(one.issuer_only, one.url != "http://a", "{}", one.url);
    }
}

#[test]
fn every_family_of_the_table_has_a_path_of_its_own() {
    let launch = launched(&[]);
    for (name, url) in &launch.environment {
        let first = url.strip_prefix("http://127.0.0.1:1/t/").unwrap();
        assert!(Family::from_name(first.split('/').next().unwrap()).is_some(), "{name}={url}");
    }
    assert_eq!(value(&launch, "OPENAI_BASE_URL"), Some("http://127.0.0.1:1/t/openai/v1"));
    assert_eq!(value(&launch, "ANTHROPIC_BASE_URL"), Some("http://127.0.0.1:1/t/anthropic"));
    assert_eq!(launch.environment.len(), 9);
}

#[test]
fn a_cloud_mode_leads_to_its_provider() {
    let cases: [(Set<'_>, &str, &str, &str); 6] = [
        (
            &[("CLAUDE_CODE_USE_BEDROCK", "1"), ("AWS_REGION", "us-east-1")],
            "ANTHROPIC_BEDROCK_BASE_URL",
            "claude-bedrock",
            "https://bedrock-runtime.us-east-1.amazonaws.com",
        ),
        (
            &[("CLAUDE_CODE_USE_VERTEX", "1"), ("CLOUD_ML_REGION", "us-east5")],
            "ANTHROPIC_VERTEX_BASE_URL",
            "claude-vertex/v1",
            "https://us-east5-aiplatform.googleapis.com",
        ),
        (
            &[("CLAUDE_CODE_USE_VERTEX", "1"), ("CLOUD_ML_REGION", "global")],
            "ANTHROPIC_VERTEX_BASE_URL",
            "claude-vertex/v1",
            "https://aiplatform.googleapis.com",
        ),
        (
            &[("CLAUDE_CODE_USE_FOUNDRY", "1"), ("ANTHROPIC_FOUNDRY_RESOURCE", "r")],
            "ANTHROPIC_FOUNDRY_BASE_URL",
            "claude-foundry",
            "https://r.services.ai.azure.com/anthropic",
        ),
        (
            &[("ANTHROPIC_FOUNDRY_BASE_URL", "http://f/anthropic/")],
            "ANTHROPIC_FOUNDRY_BASE_URL",
            "claude-foundry",
            "http://f/anthropic",
        ),
        (&[("GROQ_API_KEY", "gsk_x")], "GROQ_BASE_URL", "groq", "https://api.groq.com"),
    ];
    for (set, name, path, url) in cases {
        let link = format!("http://127.0.0.1:1/t/{path}");
        assert_eq!(value(&launched(set), name), Some(link.as_str()), "{set:?}");
        let prefix = path.split('/').next().unwrap();
        assert_eq!(upstream(set, prefix).unwrap().0, url, "{set:?}");
    }
    let foundry =
        launched(&[("CLAUDE_CODE_USE_FOUNDRY", "1"), ("ANTHROPIC_FOUNDRY_RESOURCE", "r")]);
    assert_eq!(foundry.removed, ["ANTHROPIC_FOUNDRY_RESOURCE"]);
}

#[test]
fn a_mode_that_would_break_is_left_alone() {
    let vertex = [
        ("CLAUDE_CODE_USE_VERTEX", "1"),
        ("CLOUD_ML_REGION", "global"),
        ("VERTEX_REGION_CLAUDE_4_5_SONNET", "us-east5"),
    ];
    let mantle = [("CLAUDE_CODE_USE_MANTLE", "1"), ("AWS_REGION", "us-east-1")];
    let off = [("CLAUDE_CODE_USE_BEDROCK", "0"), ("AWS_REGION", "us-east-1")];
    let placeless = [("CLAUDE_CODE_USE_BEDROCK", "1")];
    for (set, name) in [
        (&vertex[..], "ANTHROPIC_VERTEX_BASE_URL"),
        (&mantle, "ANTHROPIC_BEDROCK_MANTLE_BASE_URL"),
        (&off, "ANTHROPIC_BEDROCK_BASE_URL"),
        (&placeless, "ANTHROPIC_BEDROCK_BASE_URL"),
        (&[], "AZURE_OPENAI_ENDPOINT"),
        (&[], "GROQ_BASE_URL"),
    ] {
        assert_eq!(value(&launched(set), name), None, "{set:?}");
    }
    let bearer = [mantle[0], mantle[1], ("AWS_BEARER_TOKEN_BEDROCK", "k")];
    assert!(value(&launched(&bearer), "ANTHROPIC_BEDROCK_MANTLE_BASE_URL").is_some());
}

#[test]
fn the_variable_of_a_host_is_found() {
    let bases = bases(&[("OPENAI_HOST", "http://h:1"), ("VLLM_BASE_URL", "http://v:2/v1")], &[]);
    let bases = bases.unwrap();
    assert_eq!(bases.naming("h:1"), Some("OPENAI_HOST"));
    assert_eq!(bases.naming("v:2"), Some("VLLM_BASE_URL"));
    assert_eq!(bases.naming("x"), None);
}
