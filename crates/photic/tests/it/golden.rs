//! Golden cases: every body in `tests/wires` is checked, lowered to every wire, compared with what
//! it lowered to before, and shown to a strict provider that never heard of photic.
//!
//! `PHOTIC_BLESS=1` writes the outputs anew; the checks run all the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use photic::profile::{CallIds, Capability, ConsecutiveUser, MediaKind, Placement};
use photic::{Profile, Wire};
use photic_testkit::oracle::Slot;
use serde::Deserialize;

use crate::harness::{self, STAYS, check, codes, lower};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    #[expect(dead_code, reason = "for the reader")]
    title: String,
    pub(crate) wire: Wire,
    model: Option<String>,
    host: Option<String>,
    #[serde(default)]
    profile: Overrides,
    findings: Option<Vec<String>>,
    #[expect(dead_code, reason = "for the coverage list")]
    covers: Option<Vec<String>>,
    sees: Option<Vec<String>>,
    owners: Option<Vec<String>>,
    #[serde(default)]
    keeps_text: Vec<String>,
    #[serde(default)]
    never_text: Vec<String>,
    #[expect(dead_code, reason = "for the reader")]
    note: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Overrides {
    placement_image: Option<Placement>,
    sight_images: Option<Capability>,
    consecutive_user: Option<ConsecutiveUser>,
    images: Option<u32>,
}

impl Case {
    pub(crate) fn profile(&self, wire: Wire) -> Profile {
        let (model, host) = (self.model.as_deref(), self.host.as_deref());
        let mut profile = photic::profile::resolve(wire, model, host);
        let overrides = &self.profile;
        if let Some(placement) = overrides.placement_image {
            profile.placement.image = placement;
        }
        if let Some(sight) = overrides.sight_images {
            profile.sight.images = sight;
        }
        if let Some(quirk) = overrides.consecutive_user {
            profile.quirks.consecutive_user = quirk;
        }
        if let Some(most) = overrides.images {
            profile.limits.images = Some(most);
        }
        profile
    }
}

pub(crate) fn wires_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wires")
}

/// Every case that has such a file, by name.
pub(crate) fn cases(file: &str) -> BTreeMap<String, (Case, Vec<u8>)> {
    let mut cases = BTreeMap::new();
    for entry in fs::read_dir(wires_dir()).unwrap() {
        let folder = entry.unwrap().path();
        let (Ok(case), Ok(body)) =
            (fs::read_to_string(folder.join("case.toml")), fs::read(folder.join(file)))
        else {
            continue;
        };
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let case = toml::from_str(&case).unwrap_or_else(|error| panic!("{name}: {error}"));
        cases.insert(name, (case, body));
    }
    cases
}

/// Compares with the output kept beside the case; no file means that the body came out as it went in.
pub(crate) fn compare(name: &str, wire: Wire, input: &[u8], output: &[u8]) -> Result<(), String> {
    let path = wires_dir().join(name).join(format!("out.{wire}.json"));
    let kept = fs::read(&path).unwrap_or_else(|_| input.to_vec());
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        if output == input {
            let _ = fs::remove_file(&path);
        } else {
            fs::write(&path, output).unwrap();
        }
        return Ok(());
    }
    if kept == output {
        return Ok(());
    }
    Err(format!(
        "{name} → {wire}: the output changed\n--- was\n{}\n--- is\n{}",
        String::from_utf8_lossy(&kept),
        String::from_utf8_lossy(output)
    ))
}

/// Whether an endpoint takes files of that name; some take no GIF.
fn takes(profile: &Profile, file: &str) -> bool {
    let media_type = match file.rsplit('.').next() {
        Some("jpg" | "jpeg") => "image/jpeg".to_owned(),
        Some(extension) => format!("image/{extension}"),
        None => String::new(),
    };
    profile.accepts_type(MediaKind::Image, &media_type)
}

/// Runs a check over every case and reports all failures at once.
fn each_case(check: impl Fn(&str, &Case, &[u8]) -> Result<(), String>) {
    let cases = cases("in.json");
    assert!(cases.len() >= 80, "only {} cases", cases.len());
    let failures: Vec<String> =
        cases.iter().filter_map(|(name, (case, body))| check(name, case, body).err()).collect();
    assert!(
        failures.is_empty(),
        "{} of {} failed\n\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n\n")
    );
}

#[test]
fn findings_are_exactly_those_the_case_names() {
    each_case(|name, case, body| {
        let Some(expected) = &case.findings else { return Ok(()) };
        let findings = check(case.wire, body, &case.profile(case.wire));
        let found: Vec<_> =
            codes(&findings).into_iter().filter(|code| *code != "too_many_images").collect();
        if found == *expected {
            Ok(())
        } else {
            Err(format!("{name}: expected {expected:?}, found {found:?}\n{findings:#?}"))
        }
    });
}

#[test]
fn outputs_are_those_kept_beside_the_case() {
    each_case(|name, case, body| {
        for wire in Wire::ALL {
            compare(name, wire, body, &lower(case.wire, body, &case.profile(wire)).body)?;
        }
        Ok(())
    });
}

#[test]
fn a_strict_provider_accepts_every_output_and_sees_the_images() {
    let images = wires_dir().join("images");
    each_case(|name, case, body| {
        if name.ends_with("not-json") {
            return Ok(());
        }
        // Lone surrogates and numbers past any float travel on, but the witness cannot read them.
        let legible = serde_json::from_slice::<serde_json::Value>(body).is_ok();
        // Sloppy bodies keep their shape on their own wire, and the witness is strict.
        let lenient = name.starts_with("lenient-");
        let wires =
            Wire::ALL.into_iter().filter(|&wire| legible && !(lenient && wire == case.wire));
        for wire in wires {
            let profile = case.profile(wire);
            let run = lower(case.wire, body, &profile);
            let rules = photic_testkit::oracle::Rules {
                base64_text: name.starts_with("longer-"),
                ..harness::rules(&profile)
            };
            let seen = match photic_testkit::oracle::read_with(wire.name(), &run.body, &rules) {
                Ok(seen) => seen,
                Err(violations) => {
                    return Err(format!(
                        "{name} → {wire}: rejected: {violations:#?}\n{}",
                        String::from_utf8_lossy(&run.body)
                    ));
                }
            };
            let Some(sees) = &case.sees else { continue };
            let expected: Vec<Vec<u8>> = sees
                .iter()
                .filter(|file| takes(&profile, file))
                .map(|file| fs::read(images.join(file)).unwrap())
                .collect();
            let actual: Vec<Vec<u8>> =
                seen.images.iter().filter_map(|image| image.bytes().map(<[u8]>::to_vec)).collect();
            if expected != actual {
                return Err(format!(
                    "{name} → {wire}: sees {} images instead of {sees:?}\n{}",
                    actual.len(),
                    String::from_utf8_lossy(&run.body)
                ));
            }
            for text in &case.keeps_text {
                if run.body != body && !seen.texts.iter().any(|slot| slot.text.contains(text)) {
                    return Err(format!(
                        "{name} → {wire}: lost {text:?}\n{}",
                        String::from_utf8_lossy(&run.body)
                    ));
                }
            }
            for text in &case.never_text {
                let user = seen.texts.iter().filter(|slot| slot.slot == Slot::User);
                if let Some(slot) = user.into_iter().find(|slot| slot.text.contains(text)) {
                    return Err(format!(
                        "{name} → {wire}: {text:?} stands in the user's words: {}",
                        slot.text
                    ));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn every_image_can_be_traced_to_its_call() {
    each_case(|name, case, body| {
        let (Some(sees), Some(owners)) = (&case.sees, &case.owners) else { return Ok(()) };
        for wire in Wire::ALL {
            let profile = case.profile(wire);
            let run = lower(case.wire, body, &profile);
            let rules = harness::rules(&profile);
            let (seen, _) = photic_testkit::oracle::look(wire.name(), &run.body, &rules);
            let inline = seen.images.iter().filter(|image| image.bytes().is_some());
            let owned = owners.iter().zip(sees).filter(|(_, file)| takes(&profile, file));
            for (image, (owner, file)) in inline.zip(owned) {
                let traced = match (&image.owner, &image.label) {
                    (Some(call), _) => {
                        call == owner
                            || !owner
                                .bytes()
                                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
                            || call
                                .strip_prefix(owner.as_str())
                                .is_some_and(|rest| rest.starts_with('_'))
                    }
                    // Hoisted: the label's ordinal stands in exactly the result of its call.
                    (None, Some(label))
                        if label.contains("of this turn, returned by tool result") =>
                    {
                        let ordinal = label.split(' ').nth(1).unwrap_or_default();
                        let marker = format!("[image {ordinal} of this turn is shown");
                        // An id of any other shape was replaced on its way to another wire.
                        let plain = owner
                            .bytes()
                            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
                        let own = |id: &str| {
                            id == owner
                                || (!plain && id.starts_with("call_"))
                                || (profile.quirks.call_ids == CallIds::NineLetters
                                    && id.len() == 9)
                                || id
                                    .strip_prefix(owner.as_str())
                                    .is_some_and(|rest| rest.starts_with('_'))
                        };
                        seen.results
                            .iter()
                            .any(|result| result.text.contains(&marker) && own(&result.call_id))
                    }
                    (None, _) => !owner.contains("call") && !owner.contains("toolu"),
                };
                if !traced {
                    return Err(format!(
                        "{name} → {wire}: {file} should be {owner}'s: {image:?}\n{}",
                        String::from_utf8_lossy(&run.body)
                    ));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn lowering_again_changes_nothing() {
    each_case(|name, case, body| {
        for wire in Wire::ALL {
            let profile = case.profile(wire);
            let once = lower(case.wire, body, &profile).body;
            let twice = lower(wire, &once, &profile).body;
            if !name.ends_with("not-json") && once != twice {
                return Err(format!(
                    "{name} → {wire} is not stable\n--- once\n{}\n--- twice\n{}",
                    String::from_utf8_lossy(&once),
                    String::from_utf8_lossy(&twice)
                ));
            }
            let left = codes(&check(wire, &once, &profile));
            let allowed = ["image_address_in_text", "not_json"];
            let is_left = |code: &&str| !allowed.contains(code) && !STAYS.contains(code);
            if let Some(code) = left.into_iter().find(is_left) {
                return Err(format!(
                    "{name} → {wire}: `{code}` is left\n{}",
                    String::from_utf8_lossy(&once)
                ));
            }
        }
        Ok(())
    });
}

#[test]
fn a_clean_body_goes_out_as_the_bytes_that_came_in() {
    each_case(|name, case, body| {
        let profile = case.profile(case.wire);
        let run = lower(case.wire, body, &profile);
        let clean = codes(&check(case.wire, body, &profile))
            .iter()
            .all(|code| *code == "image_address_in_text" || STAYS.contains(code));
        if clean && profile.quirks.consecutive_user == ConsecutiveUser::Ok && run.body != body {
            return Err(format!(
                "{name}: changed although clean\n{}",
                String::from_utf8_lossy(&run.body)
            ));
        }
        Ok(())
    });
}
