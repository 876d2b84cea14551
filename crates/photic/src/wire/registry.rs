//! The implementation of every wire.

use super::name::Wire;
use super::protocol::Protocol;
use super::rules::MessageRules;
use super::table::wires;

/// Maps every wire to its implementation, from the table.
macro_rules! implement {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $module:ident::$protocol:ident
        $(; if feature $feature:literal)?,)*) => {
        impl Wire {
            pub(crate) fn protocol(self) -> &'static dyn Protocol {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$variant => &super::$module::$protocol,)*
                }
            }
        }
    };
}

wires!(implement);

impl Wire {
    /// Returns `true` if the body names the model. On other wires the path does.
    pub fn names_model(self) -> bool {
        self.rules().names_model
    }

    pub(crate) fn rules(self) -> &'static MessageRules {
        self.protocol().rules()
    }
}
