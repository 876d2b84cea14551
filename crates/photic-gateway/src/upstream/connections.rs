//! The connections to upstreams: certificates, proxies, time limits, the version of HTTP.

use std::time::Duration;

use photic_net::{Client, ClientOptions, HttpVersion, IdentityFiles, ProxyChoice, Timeouts};

use crate::config::{ConfigError, HttpChoice, SecretSource, SecretText, UpstreamConfig};

/// The word for no proxy.
const NO_PROXY: &str = "none";

/// Creates the client for all upstreams without settings of their own. It takes the proxy that the
/// environment names.
pub(crate) fn shared_client(timeouts: Timeouts) -> Result<Client, ConfigError> {
    let options =
        ClientOptions { timeouts, proxy: proxy_of_environment()?, ..ClientOptions::default() };
    Client::with_options(options).map_err(|error| wrong("tls", error.to_string()))
}

fn proxy_of_environment() -> Result<ProxyChoice, ConfigError> {
    ProxyChoice::from_variables(|name| std::env::var(name).ok())
        .map_err(|(name, error)| wrong(name, error.to_string()))
}

/// Creates the client of an upstream, or `None` if it has no settings of its own.
pub(super) fn own_client(
    config: &UpstreamConfig,
    timeouts: Timeouts,
) -> Result<Option<Client>, ConfigError> {
    let has_own = config.ca.is_some()
        || config.certificate.is_some()
        || config.certificate_key.is_some()
        || config.tls_name.is_some()
        || config.proxy.is_some()
        || config.connect_s.is_some()
        || config.answer_s.is_some()
        || config.http != HttpChoice::Auto;
    if !has_own {
        return Ok(None);
    }
    let identity = match (&config.certificate, &config.certificate_key) {
        (None, None) => None,
        (Some(certificate), Some(key)) => {
            Some(IdentityFiles { certificate: certificate.clone(), key: key.clone() })
        }
        _ => {
            let problem = "`certificate` and `certificate_key` belong together; set both";
            return Err(wrong("upstream.certificate", problem.to_owned()));
        }
    };
    let proxy = match &config.proxy {
        None => proxy_of_environment()?,
        Some(text) => match text.read("upstream.proxy")?.as_str() {
            NO_PROXY => ProxyChoice::Direct,
            url => ProxyChoice::Every(url.parse().map_err(|error: photic_net::InvalidProxy| {
                wrong("upstream.proxy", format!("{error}, or be `{NO_PROXY}`"))
            })?),
        },
    };
    let seconds = |own: Option<u32>, usual| own.map_or(usual, |it| Duration::from_secs(it.into()));
    let options = ClientOptions {
        timeouts: Timeouts {
            connect: seconds(config.connect_s, timeouts.connect),
            answer: seconds(config.answer_s, timeouts.answer),
            ..timeouts
        },
        authorities: config.ca.clone(),
        identity,
        server_name: config.tls_name.clone(),
        proxy,
        version: match config.http {
            HttpChoice::Auto => HttpVersion::Negotiated,
            HttpChoice::Http1 => HttpVersion::Http1,
            HttpChoice::Http2 => HttpVersion::Http2,
        },
    };
    let client = Client::with_options(options);
    client.map(Some).map_err(|error| {
        let key = match error {
            photic_net::OptionsError::ServerName(_) => "upstream.tls_name",
            _ => "upstream.certificate",
        };
        wrong(key, format!("{error} (upstream `{}`)", config.url))
    })
}

/// Returns `true` if the connections of an upstream depend on files, which are read once.
pub(super) fn reads_files(config: &UpstreamConfig) -> bool {
    let source = |text: &SecretText| text.source("upstream.proxy", |name| std::env::var(name).ok());
    let proxy = config.proxy.as_ref().map(source);
    config.ca.is_some()
        || config.certificate.is_some()
        || matches!(proxy, Some(Ok(SecretSource::File(_))))
}

fn wrong(key: &str, problem: String) -> ConfigError {
    ConfigError::Value { key: key.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn own(settings: &str) -> Result<Option<Client>, String> {
        let text = format!("[[upstream]]\nurl = 'https://h'\n{settings}");
        let config = Config::parse(&text).unwrap().upstream.remove(0);
        own_client(&config, Timeouts::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn only_an_upstream_with_settings_has_a_client_of_its_own() {
        assert!(own("").unwrap().is_none());
        for settings in ["connect_s = 1", "http = '2'", "proxy = 'none'", "tls_name = 'n'"] {
            assert!(own(settings).unwrap().is_some(), "{settings}");
        }
    }

    #[test]
    fn mistakes_say_what_to_do() {
        for (settings, says) in [
            ("ca = '/nonexistent'", "cannot read `/nonexistent`"),
            ("certificate = 'x'", "set both"),
            ("proxy = 'socks5://h'", "`http://host:port`"),
            ("tls_name = 'no name'", "not a host name"),
        ] {
            let error = own(settings).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
