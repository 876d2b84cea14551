//! Parsers for the values of options.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use photic::Wire;
use photic::retention::Retention;
#[cfg(feature = "mock")]
use photic_mock::Misbehavior;

use crate::body_format::BodyFormat;

/// Parses the name of a wire.
pub(super) fn wire() -> impl clap::builder::TypedValueParser<Value = Wire> {
    PossibleValuesParser::new(Wire::ALL.map(Wire::name))
        .map(|name| Wire::from_name(&name).unwrap_or(Wire::OpenAiChat))
}

/// Parses the name of a body format.
pub(super) fn body_format() -> impl clap::builder::TypedValueParser<Value = BodyFormat> {
    PossibleValuesParser::new(BodyFormat::names())
        .map(|name| BodyFormat::from_name(&name).unwrap_or(BodyFormat::Wire(Wire::OpenAiChat)))
}

/// Parses the name of a misbehavior of the test provider.
#[cfg(feature = "mock")]
pub(super) fn misbehavior() -> impl clap::builder::TypedValueParser<Value = Misbehavior> {
    PossibleValuesParser::new(Misbehavior::ALL.map(Misbehavior::name))
        .try_map(|name| name.parse::<Misbehavior>())
}

/// Parses a width and a height.
pub(super) fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X', '×']);
    match sides.map(|(width, height)| (width.trim().parse(), height.trim().parse())) {
        Some((Ok(width @ 1..), Ok(height @ 1..))) => Ok((width, height)),
        _ => Err("expected a width and a height, such as `1280x800`".to_owned()),
    }
}

/// Parses a retention policy.
pub(super) fn retention(text: &str) -> Result<Retention, String> {
    let names = || format!("expected one of {}", Retention::NAMES.join(", "));
    Retention::from_name(text).ok_or_else(names)
}
