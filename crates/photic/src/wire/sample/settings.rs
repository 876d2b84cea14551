//! The settings of the sample wire: the model and the streaming mode.

use crate::json::{Out, Value};
use crate::lower::Writer;
use crate::settings::{Settings, Word};

/// Returns the way this wire expresses a shared setting.
pub(super) fn word(name: &str) -> Word {
    match name {
        "stream" => Word::Field("stream"),
        _ => Word::Absent,
    }
}

/// Reads the settings of a request.
pub(super) fn read<'a>(root: Value<'_, 'a>) -> Settings<'a> {
    let mut settings = Settings::default();
    for (key, value) in root.entries() {
        match &*key.decode() {
            "model" => settings.model = value.str(),
            "stream" => settings.share("stream", value),
            "turns" => {}
            _ => settings.other_field(key, value, &[]),
        }
    }
    settings
}

/// Writes the settings of a request from another wire.
pub(super) fn write<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>) {
    writer.common_settings(out, &["turns", "stream"]);
    writer.no_parallel();
    writer.no_tools();
}
