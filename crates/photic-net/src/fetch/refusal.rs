//! Why nothing was fetched: which rule, and what to do next.
//!
//! Never says what a name resolved to or what a server answered: both would tell whoever wrote the
//! address about a network that is not theirs.

/// Why nothing was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It cannot be read as an address.
    #[error("it is no address")]
    NoAddress,
    /// Another scheme than HTTP.
    #[error("only `http` and `https` are fetched")]
    Scheme,
    /// A name or password in the address.
    #[error("an address with a name or password is not fetched")]
    Credentials,
    /// A port that is not for the web.
    #[error("its port is not allowed")]
    Port,
    /// Not among the hosts that are allowed, or among those that are not.
    #[error("its host is not allowed")]
    Host,
    /// The name has no address.
    #[error("its host cannot be found")]
    Unresolved,
    /// At least one address of the name is not public.
    #[error("its host is not on the public internet")]
    NotPublic,
    /// The address is one of this machine.
    #[error("its host is this machine")]
    OwnMachine,
    /// A redirect too many.
    #[error("it redirects too often")]
    Redirects,
    /// A redirect that leads nowhere, or from TLS to plain HTTP.
    #[error("it redirects to where we do not follow")]
    Redirect,
    /// No connection, or no trust in the certificate.
    #[error("its host cannot be connected to")]
    Unreachable,
    /// Not done in time.
    #[error("it did not arrive in time")]
    Timeout,
    /// Another status than 200.
    #[error("its host answered with status {0}")]
    Status(u16),
    /// The body is encoded although that was not asked for.
    #[error("it came compressed although that was not asked for")]
    Encoded,
    /// More bytes than allowed.
    #[error("it is larger than allowed")]
    TooLarge,
    /// More bytes than all addresses of one request may have together.
    #[error("the pictures of this request are larger than allowed together")]
    OverTotal,
    /// There is no memory for it at the moment.
    #[error("there is no room for it at the moment")]
    NoRoom,
    /// The bytes are not of a kind that is wanted.
    #[error("what is there is no picture or document")]
    WrongKind,
    /// The connection broke off, or what came was no HTTP.
    #[error("it broke off")]
    BrokeOff,
}

/// Whom a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The address breaks a rule: it will be refused again.
    Rule,
    /// The host, or the way there: it may work another time.
    Host,
    /// What is there.
    Content,
}

impl Refusal {
    /// The rule in a word, for logs and metrics.
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

    /// What to do next.
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

    /// Whom it is about.
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
