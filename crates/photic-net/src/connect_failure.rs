//! The reasons for which no connection was made, found in the chain of causes of an error.

use std::error::Error as StdError;
use std::io::{self, ErrorKind};

use rustls::CertificateError;

use crate::proxy::ProxyError;

/// The reason for which no connection was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// The host name has no address, or no name server answered.
    #[error("the host name cannot be resolved (DNS)")]
    Dns,
    /// Nothing listens on the port.
    #[error("connection refused")]
    Refused,
    /// No connection was made in time.
    #[error("the connection timed out")]
    TimedOut,
    /// There is no route to the host.
    #[error("the network or the host is unreachable")]
    NoRoute,
    /// The certificate was issued by an authority that is not trusted.
    #[error("the certificate is not trusted (unknown issuer)")]
    UntrustedCertificate,
    /// The certificate has expired, or is not valid yet.
    #[error("the certificate has expired or is not valid yet")]
    ExpiredCertificate,
    /// The certificate is for another host name.
    #[error("the certificate is for another host name")]
    WrongHostCertificate,
    /// The certificate was refused for another reason.
    #[error("the certificate is not valid")]
    InvalidCertificate,
    /// The server does not speak TLS, or no version of it that both sides know.
    #[error("the TLS handshake failed")]
    Tls,
    /// The server closed the connection while it was being made.
    #[error("the connection was closed while it was being made")]
    Closed,
    /// The proxy is unreachable, or refused to connect.
    #[error("the proxy did not make the connection")]
    Proxy,
    /// Any other reason.
    #[error("no connection was made")]
    Other,
}

impl ConnectFailure {
    /// Every reason.
    pub const ALL: [Self; 12] = [
        Self::Dns,
        Self::Refused,
        Self::TimedOut,
        Self::NoRoute,
        Self::UntrustedCertificate,
        Self::ExpiredCertificate,
        Self::WrongHostCertificate,
        Self::InvalidCertificate,
        Self::Tls,
        Self::Closed,
        Self::Proxy,
        Self::Other,
    ];

    /// Returns the stable name, for logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Refused => "refused",
            Self::TimedOut => "timed_out",
            Self::NoRoute => "no_route",
            Self::UntrustedCertificate => "certificate_untrusted",
            Self::ExpiredCertificate => "certificate_expired",
            Self::WrongHostCertificate => "certificate_wrong_host",
            Self::InvalidCertificate => "certificate_invalid",
            Self::Tls => "tls",
            Self::Closed => "closed",
            Self::Proxy => "proxy",
            Self::Other => "other",
        }
    }

    /// Returns what to do next.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Dns => "check the host name and the name server",
            Self::Refused => "check the port, and that the server is running",
            Self::TimedOut | Self::NoRoute => "check the address, the network and the firewall",
            Self::UntrustedCertificate => {
                "add the certificate of its authority to the system, or name its file in \
                 `SSL_CERT_FILE`"
            }
            Self::ExpiredCertificate => "renew it, or check the clock of this machine",
            Self::WrongHostCertificate => "use the host name that the certificate is for",
            Self::InvalidCertificate => "check the certificate of the server",
            Self::Tls => "check that the port speaks TLS, or use `http://`",
            Self::Proxy => {
                "check `HTTPS_PROXY` and `NO_PROXY`, or `proxy` of the upstream, and the login of the \
                 proxy"
            }
            Self::Closed | Self::Other => "check the address and the server",
        }
    }

    /// Returns the reason of an error, found in its chain of causes.
    pub(crate) fn of(error: &(dyn StdError + 'static)) -> Self {
        found(error).unwrap_or(Self::Other)
    }
}

/// Returns the first reason that an error or one of its causes names.
fn found(error: &(dyn StdError + 'static)) -> Option<ConnectFailure> {
    // The HTTP client has no type of its own for it. Systems report it with different codes.
    if error.to_string().starts_with("dns error") {
        return Some(ConnectFailure::Dns);
    }
    if error.is::<ProxyError>() {
        return Some(ConnectFailure::Proxy);
    }
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(of_tls(error));
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        // `source` skips the error inside.
        let inside = error.get_ref().and_then(|inside| found(inside));
        if let Some(found) = inside.or_else(|| of_io(error.kind())) {
            return Some(found);
        }
    }
    found(error.source()?)
}

fn of_tls(error: &rustls::Error) -> ConnectFailure {
    match error {
        rustls::Error::InvalidCertificate(certificate) => match certificate {
            CertificateError::UnknownIssuer => ConnectFailure::UntrustedCertificate,
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => ConnectFailure::ExpiredCertificate,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                ConnectFailure::WrongHostCertificate
            }
            _ => ConnectFailure::InvalidCertificate,
        },
        rustls::Error::NoCertificatesPresented => ConnectFailure::InvalidCertificate,
        _ => ConnectFailure::Tls,
    }
}

const fn of_io(kind: ErrorKind) -> Option<ConnectFailure> {
    match kind {
        ErrorKind::ConnectionRefused => Some(ConnectFailure::Refused),
        ErrorKind::TimedOut => Some(ConnectFailure::TimedOut),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            Some(ConnectFailure::NoRoute)
        }
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof => Some(ConnectFailure::Closed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: impl StdError + 'static) -> ConnectFailure {
        ConnectFailure::of(&error)
    }

    #[test]
    fn reasons_are_found_behind_other_errors() {
        let refused = io::Error::from(ErrorKind::ConnectionRefused);
        assert_eq!(of(io::Error::other(refused)), ConnectFailure::Refused);
        for (error, reason) in [
            (CertificateError::UnknownIssuer, ConnectFailure::UntrustedCertificate),
            (CertificateError::Expired, ConnectFailure::ExpiredCertificate),
            (CertificateError::NotValidForName, ConnectFailure::WrongHostCertificate),
            (CertificateError::Revoked, ConnectFailure::InvalidCertificate),
        ] {
            let inside = io::Error::new(ErrorKind::InvalidData, rustls::Error::from(error));
            assert_eq!(of(io::Error::other(inside)), reason);
        }
        let alert = rustls::Error::HandshakeNotComplete;
        assert_eq!(of(io::Error::new(ErrorKind::InvalidData, alert)), ConnectFailure::Tls);
        assert_eq!(of(io::Error::from(ErrorKind::TimedOut)), ConnectFailure::TimedOut);
        assert_eq!(of(io::Error::other("dns error")), ConnectFailure::Dns);
        let refused = io::Error::from(ErrorKind::ConnectionRefused).into();
        assert_eq!(of(ProxyError::Unreachable(refused)), ConnectFailure::Proxy);
        assert_eq!(of(io::Error::other("a riddle")), ConnectFailure::Other);
    }

    #[test]
    fn every_reason_has_a_name_and_advice_of_its_own_kind() {
        let names: std::collections::BTreeSet<_> =
            ConnectFailure::ALL.iter().map(|one| one.name()).collect();
        assert_eq!(names.len(), ConnectFailure::ALL.len());
        for one in ConnectFailure::ALL {
            assert!(!one.hint().is_empty() && !one.to_string().is_empty());
        }
    }
}
