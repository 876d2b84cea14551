//! The options of the provider.

use photic::Wire;

use crate::misbehave::Misbehavior;

/// Options of the provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The port on loopback; 0 for any free port.
    pub port: u16,
    /// The models it serves; all if empty.
    pub models: Vec<String>,
    /// The wires it serves; all if empty.
    pub wires: Vec<Wire>,
    /// Misbehavior on every request. The header `x-mock-misbehave` adds to it.
    pub misbehave: Vec<Misbehavior>,
    /// The model whose rules apply to every request; the requested one if `None`. This gives an
    /// unknown name unknown rules.
    pub judge_as: Option<String>,
    /// `true` if it grants no WebSocket.
    pub without_sockets: bool,
    /// Limits that replace those of the profile.
    pub limits: Option<photic::profile::Limits>,
}
