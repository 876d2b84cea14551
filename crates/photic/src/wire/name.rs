//! The wires by name.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::table::wires;
use crate::name::UnknownName;

/// Declares [`Wire`] from the table.
macro_rules! declare {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $module:ident::$protocol:ident
        $(; if feature $feature:literal)?,)*) => {
        /// A provider API for conversations.
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Wire {
            $($(#[$doc])* $(#[cfg(feature = $feature)])? #[serde(rename = $name)] $variant,)*
        }

        impl Wire {
            /// Every wire, in the order documents list them.
            pub const ALL: [Self; [$($(#[cfg(feature = $feature)])? $name),*].len()] =
                [$($(#[cfg(feature = $feature)])? Self::$variant),*];

            /// The name used in flags, files and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$variant => $name,)*
                }
            }
        }
    };
}

wires!(declare);

impl Wire {
    /// Returns its position in [`Wire::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the wire of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }
}

impl std::fmt::Display for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Wire {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::from_name(name)
            .ok_or_else(|| UnknownName::new("wire", name, Self::ALL.map(Self::name)))
    }
}
