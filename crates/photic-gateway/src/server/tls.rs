//! TLS for clients, with a certificate that is replaced when its files change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::config::{ConfigError, TlsConfig};

/// The protocols that clients may choose from, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The certificate of the gateway.
#[derive(Debug)]
pub(super) struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<CertifiedKey>>,
}

/// The state of the files when they were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileState(Vec<Option<(SystemTime, u64)>>);

impl FileState {
    /// Looks at files, through links.
    pub(super) fn of(files: &[PathBuf]) -> Self {
        let state = |path: &PathBuf| {
            let facts = std::fs::metadata(path).ok()?;
            Some((facts.modified().ok()?, facts.len()))
        };
        Self(files.iter().map(state).collect())
    }
}

impl Certificate {
    /// Reads the certificate. Returns `None` if the gateway serves no TLS.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, or if the key is not that of the certificate.
    pub(super) fn open(settings: &TlsConfig) -> Result<Option<Arc<Self>>, ConfigError> {
        let (certificate, key) = match settings.files() {
            (None, None) => return Ok(None),
            (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
            (Some(_), None) => {
                return Err(wrong("tls.key", "name the file of the private key, too"));
            }
            (None, Some(_)) => {
                return Err(wrong("tls.certificate", "name the file of the certificate, too"));
            }
        };
        let current = RwLock::new(read(&certificate, &key)?);
        Ok(Some(Arc::new(Self { chain: certificate, key, current })))
    }

    /// Returns the settings of TLS with this certificate.
    ///
    /// # Errors
    ///
    /// Fails if the protocol versions are not supported.
    pub(super) fn server(self: &Arc<Self>) -> Result<Arc<ServerConfig>, ConfigError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong("tls", &error.to_string()))?;
        let resolver = Arc::clone(self) as Arc<dyn ResolvesServerCert>;
        let mut config = config.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Arc::new(config))
    }

    /// Returns the files.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        vec![self.chain.clone(), self.key.clone()]
    }

    /// Reads the files again.
    ///
    /// # Errors
    ///
    /// Fails like [`Certificate::open`].
    pub(super) fn read(&self) -> Result<Arc<CertifiedKey>, ConfigError> {
        read(&self.chain, &self.key)
    }

    /// Uses another certificate for new connections.
    pub(super) fn replace(&self, with: Arc<CertifiedKey>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = with;
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<CertifiedKey>, ConfigError> {
    let of = |name: &str, path: &Path, error: &dyn std::fmt::Display| {
        wrong(name, &format!("cannot use `{}`: {error}", path.display()))
    };
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
    let chain = chain.map_err(|error| of("tls.certificate", certificate, &error))?;
    if chain.is_empty() {
        return Err(of("tls.certificate", certificate, &"it holds no certificate in PEM"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| of("tls.key", key, &error))?;
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let certified = CertifiedKey::from_der(chain, secret, &provider);
    certified.map(Arc::new).map_err(|error| of("tls.key", key, &error))
}

fn wrong(key: &str, problem: &str) -> ConfigError {
    ConfigError::Value { key: key.to_owned(), problem: problem.to_owned() }
}
