//! Settings of the connections of a [`Client`](crate::Client), and their certificates.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper_rustls::ConfigBuilderExt as _;
use rustls::client::WantsClientCert;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};

use crate::client::Timeouts;
use crate::proxy::ProxyChoice;

/// Settings of the connections of a [`Client`](crate::Client).
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// The time limits.
    pub timeouts: Timeouts,
    /// PEM file of the authorities that are trusted instead of those of the system.
    pub authorities: Option<PathBuf>,
    /// The certificate that the client shows.
    pub identity: Option<IdentityFiles>,
    /// The host name that the certificate of the server must be for, and that it is asked for. If
    /// unset, that of the URL.
    pub server_name: Option<String>,
    /// The proxy of connections to `https` URLs, or of all if it is fixed.
    pub proxy: ProxyChoice,
    /// The version of HTTP.
    pub version: HttpVersion,
}

/// PEM files of a client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityFiles {
    /// The certificate, followed by those of its authorities.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The version of HTTP of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/2 if a TLS server offers it, else HTTP/1.1.
    #[default]
    Negotiated,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 only, also without TLS.
    Http2,
}

/// An error in the settings of a client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A file cannot be read.
    #[error("cannot read `{path}`: {cause}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// A file holds no certificate in PEM.
    #[error("`{0}` holds no certificate in PEM")]
    NoCertificate(PathBuf),
    /// A file holds no private key in PEM.
    #[error("`{0}` holds no private key in PEM")]
    NoKey(PathBuf),
    /// A certificate cannot be used, or a key does not belong to it.
    #[error("the certificate in `{path}` cannot be used: {cause}")]
    Certificate {
        /// The file of the certificate.
        path: PathBuf,
        /// The error of TLS.
        #[source]
        cause: rustls::Error,
    },
    /// No version of TLS can be used.
    #[error("TLS cannot be used")]
    Tls(#[source] rustls::Error),
    /// The name is not a host name.
    #[error("`{0}` is not a host name")]
    ServerName(String),
}

impl ClientOptions {
    /// Returns the TLS configuration. It reads the files.
    pub(crate) fn tls(&self) -> Result<ClientConfig, OptionsError> {
        let builder = trusting(self.authorities.as_deref())?;
        let Some(IdentityFiles { certificate, key }) = &self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        let chain = certificates(certificate)?;
        let private = PrivateKeyDer::from_pem_slice(&read(key)?)
            .map_err(|_| OptionsError::NoKey(key.clone()))?;
        let config = builder.with_client_auth_cert(chain, private);
        config.map_err(|cause| OptionsError::Certificate { path: certificate.clone(), cause })
    }

    /// Returns the name of the server, if it is set.
    pub(crate) fn server(&self) -> Result<Option<ServerName<'static>>, OptionsError> {
        let Some(name) = &self.server_name else { return Ok(None) };
        let read = ServerName::try_from(name.clone());
        read.map(Some).map_err(|_| OptionsError::ServerName(name.clone()))
    }
}

/// Returns a builder that trusts the authorities in a file, or else those of the system. If the system
/// has none, nothing is trusted.
fn trusting(
    authorities: Option<&Path>,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, OptionsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().map_err(OptionsError::Tls)?;
    let Some(path) = authorities else {
        let native = builder.clone().with_native_roots();
        return Ok(
            native.unwrap_or_else(|_| builder.with_root_certificates(RootCertStore::empty()))
        );
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        let added = roots.add(certificate);
        added.map_err(|cause| OptionsError::Certificate { path: path.to_owned(), cause })?;
    }
    Ok(builder.with_root_certificates(roots))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, OptionsError> {
    let text = read(path)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let all = all.ok().filter(|all| !all.is_empty());
    all.ok_or_else(|| OptionsError::NoCertificate(path.to_owned()))
}

fn read(path: &Path) -> Result<Vec<u8>, OptionsError> {
    std::fs::read(path).map_err(|cause| OptionsError::File { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_path() {
        let with = |authorities: &str| ClientOptions {
            authorities: Some(authorities.into()),
            ..ClientOptions::default()
        };
        let says = with("/nonexistent/ca.pem").tls().unwrap_err().to_string();
        assert!(says.starts_with("cannot read `/nonexistent/ca.pem`"), "{says}");
        let says = with(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).tls().unwrap_err();
        assert!(says.to_string().ends_with("holds no certificate in PEM"), "{says}");
        let options = ClientOptions {
            server_name: Some("not a name".to_owned()),
            ..ClientOptions::default()
        };
        assert!(matches!(options.server(), Err(OptionsError::ServerName(_))));
    }
}
