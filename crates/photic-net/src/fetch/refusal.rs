//! Refusals of a fetch: which rule failed, and what to do next.
//!
//! They never contain what a name resolved to or what a server answered. Either would tell the
//! author of the URL about a network that is not theirs.

/// Reason why nothing was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The text is not a URL.
    #[error("it is no address")]
    NoAddress,
    /// The scheme is neither `http` nor `https`.
    #[error("only `http` and `https` are fetched")]
    Scheme,
    /// The URL contains a user name or password.
    #[error("an address with a name or password is not fetched")]
    Credentials,
    /// The port is not allowed.
    #[error("its port is not allowed")]
    Port,
    /// The host is not on the list of allowed hosts, or is on the list of forbidden ones.
    #[error("its host is not allowed")]
    Host,
    /// The host name does not resolve.
    #[error("its host cannot be found")]
    Unresolved,
    /// At least one address of the host is not public.
    #[error("its host is not on the public internet")]
    NotPublic,
    /// The address belongs to this machine.
    #[error("its host is this machine")]
    OwnMachine,
    /// There were too many redirects.
    #[error("it redirects too often")]
    Redirects,
    /// A redirect has no valid location, or leads from HTTPS to plain HTTP.
    #[error("it redirects to where we do not follow")]
    Redirect,
    /// No connection was made, or the certificate is not trusted.
    #[error("its host cannot be connected to")]
    Unreachable,
    /// The fetch took too long.
    #[error("it did not arrive in time")]
    Timeout,
    /// The status was not 200.
    #[error("its host answered with status {0}")]
    Status(u16),
    /// The body is compressed although that was not requested.
    #[error("it came compressed although that was not asked for")]
    Encoded,
    /// The file is larger than allowed.
    #[error("it is larger than allowed")]
    TooLarge,
    /// All files of one request are larger together than allowed.
    #[error("the pictures of this request are larger than allowed together")]
    OverTotal,
    /// There is no memory for it at the moment.
    #[error("there is no room for it at the moment")]
    NoRoom,
    /// The bytes are not of a wanted type.
    #[error("what is there is no picture or document")]
    WrongKind,
    /// The connection ended early, or the answer was not HTTP.
    #[error("it broke off")]
    BrokeOff,
}

/// The cause of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The URL breaks a rule. It will be refused again.
    Rule,
    /// The host or the network failed. A retry may succeed.
    Host,
    /// The content of the file.
    Content,
}

impl Refusal {
    /// Returns the name of the rule, for logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoAddress => "no_address",
            Self::Scheme => "scheme",
            Self::Credentials => "credentials",
            Self::Port => "port",
            Self::Host => "host",
            Self::Unresolved => "unresolved",
            Self::NotPublic => "not_public",
            Self::OwnMachine => "own_machine",
            Self::Redirects => "redirects",
            Self::Redirect => "redirect",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::Status(_) => "status",
            Self::Encoded => "encoded",
            Self::TooLarge => "too_large",
            Self::OverTotal => "over_total",
            Self::NoRoom => "no_room",
            Self::WrongKind => "wrong_kind",
            Self::BrokeOff => "broke_off",
        }
    }

    /// Returns what to do next.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::NoAddress | Self::Scheme => "send the picture itself, as base64",
            Self::Credentials => "leave the name and password out, or send the picture itself",
            Self::Port => "serve it on port 80 or 443, or list its address in `fetch.private`",
            Self::Host => "add the host to `fetch.hosts`",
            Self::Unresolved => "check the name of the host",
            Self::NotPublic | Self::OwnMachine => {
                "send the picture itself, or list its address and port in `fetch.private`"
            }
            Self::Redirects | Self::Redirect => "use the address it redirects to",
            Self::Unreachable | Self::Timeout | Self::BrokeOff => {
                "try again, or send the picture itself"
            }
            Self::Status(_) => "check that the address works without a login",
            Self::Encoded => "serve the picture as it is",
            Self::OverTotal => "send fewer pictures, or raise `fetch.total_mib`",
            Self::NoRoom => "try again soon",
            Self::TooLarge => "use a smaller picture, or raise `fetch.max_mib`",
            Self::WrongKind => "use the address of the picture, not of the page that shows it",
        }
    }

    /// Returns the cause of the refusal.
    pub const fn blame(self) -> Blame {
        match self {
            Self::NoAddress
            | Self::Scheme
            | Self::Credentials
            | Self::Port
            | Self::Host
            | Self::NotPublic
            | Self::OwnMachine
            | Self::Redirects
            | Self::Redirect => Blame::Rule,
            Self::Unresolved
            | Self::Unreachable
            | Self::Timeout
            | Self::Status(_)
            | Self::BrokeOff
            | Self::NoRoom => Blame::Host,
            Self::Encoded | Self::TooLarge | Self::OverTotal | Self::WrongKind => Blame::Content,
        }
    }
}
