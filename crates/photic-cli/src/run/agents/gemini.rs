//! Gemini CLI: with a base URL in the environment and no saved login, it exits with 41.
//!
//! It then takes the variable for a login of its own, which it refuses without a terminal. A scratch
//! home says what it would have chosen without the variable. Its files are links to the user's, but
//! for one.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Preparation;
use crate::run::launch::{Launch, SCRATCH};
use crate::run::scratch::Overlay;

const BASE_URL: &str = "GOOGLE_GEMINI_BASE_URL";
const HOME: &str = "GEMINI_CLI_HOME";
/// Its folder below the home, and its settings there.
const FOLDER: &str = ".gemini";
const SETTINGS: &str = "settings.json";
/// Variables that choose a login before the base URL is looked at.
const OTHER_LOGINS: [&str; 2] = ["GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI"];

/// Gives it a home with a saved login, or leaves it alone where that is not possible.
pub(super) fn prepare(launch: &mut Launch, context: &Preparation<'_>) {
    let environment = context.environment;
    if OTHER_LOGINS.iter().any(|name| environment.is_on(name)) {
        return;
    }
    let Some(home) = environment.folder(HOME, "") else { return launch.leave(BASE_URL) };
    let folder = home.join(FOLDER);
    let files = [folder.join(SETTINGS), PathBuf::from(FOLDER).join(SETTINGS)];
    let settings = files.each_ref().map(|path| settings(path));
    if settings.iter().flatten().any(has_login) {
        return;
    }
    let [Some(mut own), Some(_)] = settings else { return launch.leave(BASE_URL) };
    if environment.get("GEMINI_API_KEY").is_none() || !own.is_object() {
        return launch.leave(BASE_URL);
    }
    let security = &mut own["security"];
    if !security.is_object() {
        *security = json!({});
    }
    if !security["auth"].is_object() {
        security["auth"] = json!({});
    }
    security["auth"]["selectedType"] = json!("gemini-api-key");
    let except = vec![FOLDER.to_owned()];
    launch.overlays.push(Overlay { path: "home".into(), of: home, except });
    let except = vec![SETTINGS.to_owned()];
    let path = Path::new("home").join(FOLDER);
    launch.overlays.push(Overlay { path, of: folder, except });
    let [user, _] = files;
    let copy_of = user.exists().then_some(user);
    launch.write(&format!("home/{FOLDER}/{SETTINGS}"), format!("{own:#}\n"), copy_of);
    launch.set(HOME, format!("{SCRATCH}/home"));
}

/// Reads settings. Returns `None` if they are no plain JSON: they may hold comments.
fn settings(path: &Path) -> Option<Value> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).ok(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(json!({})),
        Err(_) => None,
    }
}

fn has_login(settings: &Value) -> bool {
    let names = ["/security/auth/selectedType", "/selectedAuthType"];
    names.iter().any(|at| settings.pointer(at).is_some_and(Value::is_string))
}
