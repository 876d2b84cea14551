//! The witness collects the content that was seen, in order, and the violations, with their
//! pointers.
//!
//! This module owns the checks that every wire shares: unknown parts and fields, text, pictures,
//! limits. It must never know which wire it is used for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::picture::{inspect, sniff};
use super::rules::{Many, Rules};
use super::seen::{Call, Document, Image, Seen, Slot, Source, Text, Unknown};
use super::smuggle::smuggled;
use super::{Violation, picture};

/// The place of a part: its author, the call it answers, and the pointer to it.
#[derive(Clone, Debug)]
pub(super) struct PartOrigin {
    pub(super) slot: Slot,
    pub(super) owner: Option<String>,
    pub(super) at: String,
}

impl PartOrigin {
    pub(super) fn new(slot: Slot, at: impl Into<String>) -> Self {
        Self { slot, owner: None, at: at.into() }
    }

    pub(super) fn result(owner: &str, at: impl Into<String>) -> Self {
        Self { slot: Slot::ToolResult, owner: Some(owner.to_owned()), at: at.into() }
    }

    pub(super) fn down(&self, step: impl std::fmt::Display) -> Self {
        Self { at: format!("{}/{step}", self.at), ..self.clone() }
    }
}

pub(super) struct Witness<'r> {
    pub(super) rules: &'r Rules,
    pub(super) seen: Seen,
    violations: Vec<Violation>,
    label: Option<String>,
    /// The calls that code makes. The model does not read their results.
    pub(super) for_code: Vec<String>,
    /// `true` if the current text is read by code and not by the model.
    pub(super) unread: bool,
}

impl<'r> Witness<'r> {
    pub(super) fn new(rules: &'r Rules) -> Self {
        Self {
            rules,
            seen: Seen::default(),
            violations: Vec::new(),
            label: None,
            for_code: Vec::new(),
            unread: false,
        }
    }

    /// Makes the last checks, which need the whole request.
    pub(super) fn finish(mut self) -> (Seen, Vec<Violation>) {
        let count = self.seen.images.len();
        if let Some(limit) = self.rules.limits.images.filter(|limit| count > *limit) {
            let text = format!("too much media: {count} images > {limit}");
            self.violate("too_many_images", "", text);
        }
        let papers = self.seen.documents.len();
        if let Some(limit) = self.rules.limits.documents.filter(|limit| papers > *limit) {
            let text = format!("too many documents: {papers} > {limit}");
            self.violate("too_many_documents", "", text);
        }
        let crowd = |many: &Many| count + if many.documents { papers } else { 0 };
        if let Some(many) = self.rules.limits.many.filter(|many| crowd(many) > many.over) {
            let large: Vec<String> = self
                .seen
                .images
                .iter()
                .filter_map(|image| {
                    let (width, height) = image.pixels?;
                    (width.max(height) > many.edge).then(|| image.pointer.clone())
                })
                .collect();
            for pointer in large {
                let text = format!(
                    "At least one of the image dimensions exceed max allowed size for many-image requests: {} pixels",
                    many.edge
                );
                self.violate("image_too_large", &pointer, text);
            }
        }
        (self.seen, self.violations)
    }

    pub(super) fn violate(&mut self, code: &'static str, at: &str, text: impl Into<String>) {
        self.violations.push(Violation { code, pointer: at.to_owned(), text: text.into() });
    }

    pub(super) fn body_size(&mut self, bytes: usize) {
        if let Some(limit) = self.rules.limits.body.filter(|limit| bytes > *limit) {
            let text = format!("request_too_large: {bytes} bytes > {limit} bytes");
            self.violate("body_too_large", "", text);
        }
    }

    pub(super) fn unknown_part(&mut self, at: &str, name: &str) {
        self.seen.unknown.push(Unknown { pointer: at.to_owned(), name: name.to_owned() });
        if self.rules.strict_unknown {
            self.violate("unknown_part", at, format!("Invalid value: '{name}'."));
        }
    }

    /// Lists the fields of `object` that are not among `known`.
    pub(super) fn fields(&mut self, object: &Map<String, Value>, at: &str, known: &[&str]) {
        for name in object.keys().filter(|name| !known.contains(&name.as_str())) {
            let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            if self.rules.strict_unknown {
                let text = format!("{name}: Extra inputs are not permitted");
                self.violate("unknown_field", &pointer, text);
            }
            self.seen.unknown.push(Unknown { pointer, name: name.clone() });
        }
    }

    /// Reads a required string field.
    pub(super) fn string<'v>(
        &mut self,
        object: &'v Map<String, Value>,
        key: &str,
        at: &str,
    ) -> Option<&'v str> {
        match object.get(key) {
            Some(Value::String(text)) => Some(text),
            None | Some(Value::Null) => {
                self.violate("field_missing", at, format!("Missing required parameter: '{key}'."));
                None
            }
            Some(_) => {
                let text = format!("Invalid type for '{key}': expected a string.");
                self.violate("field_type", &format!("{at}/{key}"), text);
                None
            }
        }
    }

    /// Reads a required object.
    pub(super) fn object<'v>(
        &mut self,
        value: Option<&'v Value>,
        at: &str,
    ) -> Option<&'v Map<String, Value>> {
        let object = value.and_then(Value::as_object);
        if object.is_none() {
            self.violate("field_type", at, "Invalid type: expected an object.");
        }
        object
    }

    /// Checks a value against a closed list, if the field is present.
    pub(super) fn one_of(
        &mut self,
        object: &Map<String, Value>,
        key: &str,
        at: &str,
        known: &[&str],
    ) {
        if let Some(value) = object.get(key).filter(|value| !value.is_null())
            && !value.as_str().is_some_and(|value| known.contains(&value))
        {
            let text = format!("Invalid value: '{value}'. Supported values are: {known:?}.");
            self.violate("value_unknown", &format!("{at}/{key}"), text);
        }
    }

    /// Starts a new list of parts. Text before it is not a label for anything in it.
    pub(super) fn content(&mut self) {
        self.label = None;
    }

    /// Records text that the model reads. `place` points at the string.
    pub(super) fn text(&mut self, place: &PartOrigin, text: &str) {
        self.scan(&place.at, text, place.slot == Slot::ToolResult);
        self.label = Some(text.to_owned());
        self.seen.texts.push(Text {
            slot: place.slot,
            owner: place.owner.clone(),
            text: text.to_owned(),
            pointer: place.at.clone(),
        });
    }

    pub(super) fn scan(&mut self, at: &str, text: &str, in_result: bool) {
        if self.rules.base64_text || self.unread {
            return;
        }
        for found in smuggled(text).into_iter().filter(|found| found.is_fault(in_result)) {
            let text = format!(
                "{} characters of {} stand as text from byte {} on",
                found.length, found.media_type, found.offset
            );
            self.violate("base64_in_text", at, text);
        }
    }

    pub(super) fn call(&mut self, at: &str, id: &str, name: &str, arguments: String) {
        if self.rules.scan_arguments {
            self.scan(at, &arguments, true);
        }
        self.label = None;
        let (id, name, pointer) = (id.to_owned(), name.to_owned(), at.to_owned());
        self.seen.calls.push(Call { id, name, arguments, pointer });
    }

    /// Records an image whose bytes are elsewhere. `place` points at the part.
    pub(super) fn remote(&mut self, place: &PartOrigin, source: Source, detail: Option<&str>) {
        let taken = match source {
            Source::File(_) => self.rules.file_images,
            Source::Remote(_) | Source::Inline(_) => self.rules.remote_images,
        };
        if !taken {
            self.violate(
                "image_remote",
                &place.at,
                "image URLs are not currently supported, please use base64 encoded data instead",
            );
        }
        self.image(place, source, None, None, detail);
    }

    /// Records an image whose bytes are in the request. `place` points at the part.
    pub(super) fn inline(
        &mut self,
        place: &PartOrigin,
        media_type: &str,
        data: &str,
        detail: Option<&str>,
    ) {
        let at = &place.at;
        if let Some(limit) = self.rules.limits.image_base64.filter(|limit| data.len() > *limit) {
            let text = format!("image exceeds maximum: {} bytes > {limit} bytes", data.len());
            self.violate("image_too_large", at, text);
        }
        if !self.rules.media_types.contains(&media_type) {
            let text = format!(
                "You uploaded an unsupported image ({media_type}). Please make sure your image has one of the following formats: {:?}.",
                self.rules.media_types
            );
            self.violate("media_type_unsupported", at, text);
        }
        let Ok(bytes) = STANDARD.decode(data) else {
            self.violate("base64_invalid", at, "invalid_base64_image: Invalid base64 data");
            return;
        };
        if let Some(limit) = self.rules.limits.image_raw.filter(|limit| bytes.len() > *limit) {
            let text = format!("image exceeds maximum: {} bytes > {limit} bytes", bytes.len());
            self.violate("image_too_large", at, text);
        }
        let mut pixels = None;
        match (sniff(&bytes), inspect(&bytes, self.rules.pixels)) {
            (None, _) if bytes.is_empty() => {
                self.violate("image_invalid", at, "image cannot be empty");
            }
            (Some(sniffed), _) if sniffed != media_type => {
                let text = format!(
                    "Image does not match the provided media type {media_type}: it is {sniffed}"
                );
                self.violate("media_type_mismatch", at, text);
            }
            (_, Err(fault)) => self.refuse_image(at, fault),
            (_, Ok(size)) => pixels = size,
        }
        if let Some(size) = pixels {
            self.edges(at, size, detail);
        }
        self.image(place, Source::Inline(bytes), Some(media_type), pixels, detail);
    }

    fn refuse_image(&mut self, at: &str, fault: picture::Fault) {
        let text = format!("The image data you provided does not represent a valid image: {fault}");
        self.violate("image_invalid", at, text);
    }

    fn edges(&mut self, at: &str, (width, height): (u32, u32), detail: Option<&str>) {
        let limits = self.rules.limits;
        if let Some(limit) = limits.patches {
            let patches = limit.of((width, height), detail);
            if patches > u64::from(limit.most) {
                let text =
                    format!("image exceeds the maximum of {} patches: {patches}", limit.most);
                self.violate("image_too_large", at, text);
            }
        }
        if let Some(edge) = limits.edge.filter(|edge| width.max(height) > *edge) {
            let text = format!(
                "At least one of the image dimensions exceed max allowed size: {edge} pixels"
            );
            self.violate("image_too_large", at, text);
        }
        if let Some(edge) = limits.min_edge.filter(|edge| width.min(height) < *edge) {
            let text = format!("image_too_small: {width}x{height} is under {edge} pixels");
            self.violate("image_too_small", at, text);
        }
    }

    /// Records a document of any source.
    pub(super) fn document(&mut self, document: Document) {
        let at = document.pointer.clone();
        if document.owner.is_some() && !self.rules.result_documents {
            self.violate("part_wrong_role", &at, "tool results hold no documents");
        }
        if !self.rules.documents {
            self.violate("document_unsupported", &at, "document input is not supported");
        }
        if let (Some(known), Some(media_type)) =
            (self.rules.document_types, document.media_type.as_deref())
            && media_type != "text/plain"
            && !known.contains(&media_type)
        {
            let text = format!("Unsupported file type {media_type}. Expected one of {known:?}.");
            self.violate("media_type_unsupported", &at, text);
        }
        if let (Some(limit), Source::Inline(bytes)) =
            (self.rules.limits.document_raw, &document.source)
            && bytes.len() > limit
        {
            let text = format!("document exceeds maximum: {} bytes > {limit} bytes", bytes.len());
            self.violate("document_too_large", &at, text);
        }
        self.seen.documents.push(document);
    }

    /// Checks the number of cache breakpoints of the whole request.
    pub(super) fn breakpoints(&mut self, total: usize) {
        if let Some(limit) = self.rules.limits.breakpoints.filter(|limit| total > *limit) {
            let text = format!(
                "A maximum of {limit} blocks with cache_control may be provided. Found {total}."
            );
            self.violate("too_many_breakpoints", "", text);
        }
    }

    fn image(
        &mut self,
        place: &PartOrigin,
        source: Source,
        media_type: Option<&str>,
        pixels: Option<(u32, u32)>,
        detail: Option<&str>,
    ) {
        if place.owner.is_some() && !self.rules.result_images {
            self.violate("image_wrong_role", &place.at, "tool results hold text only");
        }
        if self.rules.text_only {
            self.violate("image_unsupported", &place.at, "image input is not supported");
        }
        self.seen.images.push(Image {
            order: self.seen.images.len(),
            slot: place.slot,
            owner: place.owner.clone(),
            label: self.label.take(),
            media_type: media_type.map(str::to_owned),
            source,
            pixels,
            detail: detail.map(str::to_owned),
            pointer: place.at.clone(),
        });
    }
}
