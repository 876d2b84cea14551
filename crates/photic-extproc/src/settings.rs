//! The settings of the server.

use photic::Policy;

/// The settings of the server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The choices for all requests: how long images stay in sight, and whether prompt cache breakpoints are set.
    pub policy: Policy,
    /// Maximum bytes of a body, before and after its content encoding is removed.
    pub max_body: usize,
    /// Maximum bytes of the bodies of all requests.
    pub memory: usize,
    /// The treatment of a body that is larger.
    pub too_large: TooLarge,
}

/// The treatment of a body that is too large to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TooLarge {
    /// It passes as it is, and the reply says so in `x-photic-passed`.
    #[default]
    Pass,
    /// The client gets status 413, in the form of the API that it speaks.
    Refuse,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            max_body: 64 << 20,
            memory: 1 << 30,
            too_large: TooLarge::default(),
        }
    }
}

impl TooLarge {
    /// All treatments.
    pub const ALL: [Self; 2] = [Self::Pass, Self::Refuse];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Refuse => "refuse",
        }
    }

    /// Finds a treatment by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}
