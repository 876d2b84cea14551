//! Tests of the scratch folder: what an agent writes is kept, and what it links is left alone.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use super::*;

/// A folder of the user, with a file that has another content in the scratch folder.
struct User(PathBuf);

impl User {
    fn new(name: &str) -> Self {
        let name = format!("photic-scratch-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("agent/sessions")).unwrap();
        fs::write(path.join("agent/settings.json"), "theirs").unwrap();
        Self(path)
    }

    /// A scratch folder whose `home/agent` looks like the user's.
    fn scratch(&self) -> Scratch {
        let mut scratch = Scratch::new().unwrap();
        let except = vec!["settings.json".to_owned()];
        let of = self.0.join("agent");
        scratch.overlay(&Overlay { path: "home/agent".into(), of, except }).unwrap();
        scratch.write(Path::new("home/agent/settings.json"), "ours").unwrap();
        scratch
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_users_folder_gets_what_is_new_and_keeps_what_was_changed_for_the_run() {
    let user = User::new("new");
    fs::write(user.0.join("agent/auth.json"), "old").unwrap();
    let scratch = user.scratch();
    let path = scratch.path().to_owned();
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("home/agent/settings.json")), 0o600);
    // The agent writes through a link, over a link, and beside them.
    let agent = path.join("home/agent");
    fs::write(agent.join("sessions/1"), "new").unwrap();
    fs::write(agent.join("auth.json.tmp"), "new").unwrap();
    fs::rename(agent.join("auth.json.tmp"), agent.join("auth.json")).unwrap();
    fs::create_dir_all(agent.join("logs")).unwrap();
    fs::set_permissions(agent.join("logs"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(agent.join("logs/a"), "log").unwrap();
    drop(scratch);
    assert!(!path.exists());
    assert_eq!(user.read("agent/settings.json"), "theirs");
    let files = ["sessions/1", "auth.json", "logs/a"];
    assert_eq!(files.map(|name| user.read(&format!("agent/{name}"))), ["new", "new", "log"]);
    assert_eq!(mode(&user.0.join("agent/logs")), 0o700);
}

#[test]
fn links_of_the_agent_are_kept_as_links() {
    let user = User::new("links");
    let skill = user.0.join("my-skill");
    fs::create_dir(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "mine").unwrap();
    let scratch = user.scratch();
    let path = scratch.path().to_owned();
    let agent = path.join("home/agent");
    fs::create_dir(agent.join("skills")).unwrap();
    symlink(&skill, agent.join("skills/my-skill")).unwrap();
    symlink("/nowhere", agent.join("dangling")).unwrap();
    fs::create_dir(agent.join("logs")).unwrap();
    fs::write(agent.join("logs/1"), "log").unwrap();
    symlink(agent.join("logs/1"), agent.join("logs/latest")).unwrap();
    drop(scratch);
    assert!(!path.exists());
    assert_eq!(user.read("my-skill/SKILL.md"), "mine");
    let target = |name: &str| fs::read_link(user.0.join("agent").join(name)).unwrap();
    assert_eq!(target("skills/my-skill"), skill);
    assert_eq!(target("dangling"), Path::new("/nowhere"));
    // A link into the scratch folder leads to where its target was moved.
    assert_eq!(target("logs/latest"), user.0.join("agent/logs/1"));
    assert_eq!(user.read("agent/logs/latest"), "log");
}

#[test]
fn what_cannot_be_moved_stays_in_the_scratch_folder() {
    let user = User::new("left");
    fs::create_dir_all(user.0.join("agent/a-folder/b")).unwrap();
    let scratch = user.scratch();
    let agent = scratch.path().join("home/agent");
    // A file in place of the user's folder.
    fs::remove_file(agent.join("a-folder")).unwrap();
    fs::write(agent.join("a-folder"), "file").unwrap();
    fs::create_dir(agent.join("logs")).unwrap();
    fs::write(agent.join("logs/z"), "log").unwrap();
    let kept = scratch.finish().unwrap();
    assert!(!scratch.path().exists());
    assert!(kept.file_name().unwrap().to_string_lossy().starts_with(KEPT), "{}", kept.display());
    assert_eq!(fs::read_to_string(kept.join("home/agent/a-folder")).unwrap(), "file");
    assert!(!kept.join("home/agent/settings.json").exists());
    assert_eq!(user.read("agent/logs/z"), "log");
    assert!(user.0.join("agent/a-folder/b").is_dir());
    fs::remove_dir_all(kept).unwrap();
}

#[test]
fn another_file_system_gets_files_and_links_and_nothing_else() {
    let user = User::new("copies");
    let (from, to) = (user.0.join("agent"), user.0.join("elsewhere"));
    fs::create_dir(&to).unwrap();
    fs::write(to.join("settings.json"), "old").unwrap();
    symlink("/nowhere", from.join("dangling")).unwrap();
    let _socket = UnixListener::bind(from.join("socket")).unwrap();
    for name in ["settings.json", "dangling", "socket"] {
        copy_to(&from.join(name), &to.join(name)).unwrap();
    }
    assert_eq!(user.read("elsewhere/settings.json"), "theirs");
    assert_eq!(fs::read_link(to.join("dangling")).unwrap(), Path::new("/nowhere"));
    assert_eq!(fs::read_dir(&to).unwrap().count(), 2);
}

#[test]
fn folders_of_killed_processes_are_removed() {
    let user = User::new("abandoned");
    let running = Scratch::in_folder(&user.0).unwrap();
    let named = |id: &str| user.0.join([RUN, id].concat());
    let (dead, other) = (named(&"0".repeat(32)), named("mine"));
    for folder in [&dead, &other] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("models.json"), "key").unwrap();
    }
    symlink(&other, named(&"1".repeat(32))).unwrap();
    abandoned::remove_all(&user.0, RUN);
    assert!(!dead.exists());
    assert!(other.join("models.json").exists());
    assert!(running.path().exists());
}
