//! Attempts to get out of the roots. Every one is refused, and no refusal tells what was there.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use photic_tools::{HardLinks, RefusalCode, Tools};

use crate::world::{SECRET, World, code, looking, read, wait};

use RefusalCode::{Absent, BadSource, HardLink, NotAFile, OutsideRoots};

/// What is asked for, and with which code it is refused. `{out}` is the folder outside, `{root}`
/// the root, `{base}` what holds both.
const ATTEMPTS: &[(&str, RefusalCode)] = &[
    // Going up.
    ("../outside/secret.txt", OutsideRoots),
    ("./../outside/secret.txt", OutsideRoots),
    ("folder/../../outside/secret.txt", OutsideRoots),
    ("folder/deeper/../../../outside/secret.txt", OutsideRoots),
    ("folder//..//..//outside//secret.txt", OutsideRoots),
    ("../root/../outside/secret.txt", OutsideRoots),
    ("../../../../../../../../../../etc/passwd", OutsideRoots),
    ("no-such-folder/../../outside/secret.txt", Absent),
    ("inside.txt/../../outside/secret.txt", Absent),
    ("..", OutsideRoots),
    // From the top.
    ("/etc/passwd", OutsideRoots),
    ("//etc/passwd", OutsideRoots),
    ("{out}/secret.txt", OutsideRoots),
    ("{root}/../outside/secret.txt", OutsideRoots),
    ("{root}/folder/../../outside/secret.txt", OutsideRoots),
    ("{base}/rooted/secret.txt", OutsideRoots),
    ("{base}/ROOT/../outside/secret.txt", OutsideRoots),
    // Links in every position.
    ("link-to-file", OutsideRoots),
    ("link-to-file-relative", OutsideRoots),
    ("link-to-folder/secret.txt", OutsideRoots),
    ("link-to-folder-relative/secret.txt", OutsideRoots),
    ("folder/link-up/outside/secret.txt", OutsideRoots),
    ("folder/deeper/link-in-the-middle/secret.txt", OutsideRoots),
    ("link-to-link", OutsideRoots),
    ("link-to-root/../outside/secret.txt", OutsideRoots),
    ("link-to-slash/etc/passwd", OutsideRoots),
    ("link-to-slash{out}/secret.txt", OutsideRoots),
    ("link-around/a", OutsideRoots),
    ("link-to-nothing-outside", OutsideRoots),
    // Magic links and files that the kernel makes up.
    ("link-to-proc-root{out}/secret.txt", OutsideRoots),
    ("link-to-proc-cwd", OutsideRoots),
    ("link-to-environ", OutsideRoots),
    ("link-to-fd", OutsideRoots),
    ("/proc/self/environ", OutsideRoots),
    ("/proc/self/root{out}/secret.txt", OutsideRoots),
    ("/dev/stdin", OutsideRoots),
    // What is no file.
    ("pipe", NotAFile),
    ("socket", NotAFile),
    ("folder", NotAFile),
    (".", NotAFile),
    ("{root}", NotAFile),
    ("link-to-null", OutsideRoots),
    // A second name of what lies outside.
    ("hard-link.txt", HardLink),
    ("folder/../hard-link.txt", HardLink),
    // Spellings that other layers decode.
    ("%2e%2e/outside/secret.txt", Absent),
    ("..%2foutside%2fsecret.txt", Absent),
    ("%2e%2e%2foutside%2fsecret.txt", Absent),
    ("..%252foutside/secret.txt", Absent),
    ("..%c0%afoutside/secret.txt", Absent),
    ("file://{out}/secret.txt", BadSource),
    ("file:{out}/secret.txt", BadSource),
    ("FILE://localhost{out}/secret.txt", BadSource),
    ("data:text/plain,hello", BadSource),
    ("ftp://127.0.0.1/secret.txt", BadSource),
    ("..\\outside\\secret.txt", Absent),
    ("C:\\Windows\\win.ini", Absent),
    ("C:/Windows/win.ini", Absent),
    ("\\\\?\\C:\\secret.txt", Absent),
    ("~/.ssh/id_rsa", Absent),
    ("~root/.ssh/id_rsa", Absent),
    ("$HOME/.ssh/id_rsa", Absent),
    // Unicode that looks like dots and slashes.
    ("\u{ff0e}\u{ff0e}/outside/secret.txt", Absent),
    ("..\u{ff0f}outside\u{ff0f}secret.txt", Absent),
    ("..\u{2215}outside\u{2215}secret.txt", Absent),
    ("\u{2024}\u{2024}/outside/secret.txt", Absent),
    ("\u{2025}/outside/secret.txt", Absent),
    (".\u{200b}./outside/secret.txt", Absent),
    ("..\u{a0}/outside/secret.txt", Absent),
    ("\u{202e}txt.terces/edistuo/..", Absent),
    // Dots and spaces that other systems ignore, and case.
    (".. /outside/secret.txt", Absent),
    ("... /outside/secret.txt", Absent),
    (".../outside/secret.txt", Absent),
    ("inside.txt.", Absent),
    ("inside.txt ", Absent),
    ("INSIDE.TXT", Absent),
    ("inside.txt/", Absent),
    ("inside.txt::$DATA", Absent),
    // What is no path.
    ("", BadSource),
    (" ", BadSource),
    ("inside.txt\0", BadSource),
    ("../outside/secret.txt\0.png", BadSource),
    ("{long}", BadSource),
    ("{longname}", Absent),
];

fn laid(world: &World) {
    let (root, out) = (world.root(), world.outside());
    let link = |to: &str, name: &str| symlink(to, root.join(name)).unwrap();
    let secret = out.join("secret.txt");
    link(secret.to_str().unwrap(), "link-to-file");
    link("../outside/secret.txt", "link-to-file-relative");
    link(out.to_str().unwrap(), "link-to-folder");
    link("../outside", "link-to-folder-relative");
    link("../..", "folder/link-up");
    link("../../../outside", "folder/deeper/link-in-the-middle");
    link("link-to-file", "link-to-link");
    link(".", "link-to-root");
    link("/", "link-to-slash");
    link("link-around", "link-around");
    link("../outside/nothing", "link-to-nothing-outside");
    link("/proc/self/root", "link-to-proc-root");
    link("/proc/self/cwd", "link-to-proc-cwd");
    link("/proc/self/environ", "link-to-environ");
    link("/proc/self/fd/0", "link-to-fd");
    link("/dev/null", "link-to-null");
    std::fs::hard_link(&secret, root.join("hard-link.txt")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), pipe, mode, 0).unwrap();
    drop(UnixListener::bind(root.join("socket")).unwrap());
    let rooted = root.parent().unwrap().join("rooted");
    std::fs::create_dir(&rooted).unwrap();
    std::fs::write(rooted.join("secret.txt"), SECRET).unwrap();
}

#[test]
fn every_attempt_to_get_out_is_refused() {
    assert!(ATTEMPTS.len() >= 40);
    let world = World::new();
    laid(&world);
    let tools = world.tools();
    let (root, out) = (world.root(), world.outside());
    let mut wrong = Vec::new();
    for (attempt, expected) in ATTEMPTS {
        let source = attempt
            .replace("{root}", root.to_str().unwrap())
            .replace("{out}", out.to_str().unwrap())
            .replace("{base}", root.parent().unwrap().to_str().unwrap())
            .replace("{longname}", &"n".repeat(300))
            .replace("{long}", &"../".repeat(2000));
        let refusals = [read(&tools, &source).err(), wait(tools.view(&looking(&source))).err()];
        for (tool, refusal) in ["read", "view"].into_iter().zip(refusals) {
            match refusal {
                None => wrong.push(format!("{tool} {attempt:?} was let through")),
                Some(refusal) => {
                    let told = serde_json::to_string(&refusal).unwrap();
                    if refusal.code != *expected || told.contains(SECRET) {
                        wrong.push(format!("{tool} {attempt:?}: {told}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Everything that is fine, so that the table above is not passed by refusing all.
#[test]
fn what_lies_inside_is_read_however_it_is_reached() {
    let world = World::new();
    laid(&world);
    let root = world.root();
    symlink("inside.txt", root.join("link-inside")).unwrap();
    symlink("../inside.txt", root.join("folder/link-inside-up")).unwrap();
    symlink(root.join("inside.txt"), root.join("link-inside-absolute")).unwrap();
    symlink(root.join("folder"), root.join("link-to-folder-inside")).unwrap();
    world.write("%2e%2e", "a plain name\n");
    world.write("img_notes.txt", "notes\n");
    let tools = world.tools();
    let absolute = root.join("inside.txt");
    let fine = [
        "inside.txt",
        "./inside.txt",
        "folder/../inside.txt",
        "folder//deep.txt",
        "../root/inside.txt",
        "link-inside",
        "folder/link-inside-up",
        "link-inside-absolute",
        "link-to-folder-inside/deep.txt",
        "link-to-root/inside.txt",
        "%2e%2e",
        "img_notes.txt",
        absolute.to_str().unwrap(),
    ];
    for source in fine {
        assert!(read(&tools, source).is_ok(), "{source}: {:?}", read(&tools, source));
    }
}

#[test]
fn a_root_at_the_top_still_opens_no_kernel_file_and_no_device() {
    let tools = Tools::builder().root("/").hard_links(HardLinks::Allow).build().unwrap();
    let made_up = [
        "/proc/self/environ",
        "/proc/self/mem",
        "/proc/self/maps",
        "/proc/version",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd/Cargo.toml",
        "/proc/self/fd/0",
        "/proc/self/exe",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/dev/null",
        "/dev/zero",
        "/dev/tty",
        "/dev/stdin",
        "/dev/fd/0",
    ];
    for source in made_up {
        let refusal = read(&tools, source).unwrap_err();
        assert!(matches!(refusal.code, NotAFile | OutsideRoots | Absent), "{source}: {refusal:?}");
    }
    assert!(read(&tools, concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).is_ok());
}

#[test]
fn hard_links_are_read_where_the_operator_says_so() {
    let world = World::new();
    std::fs::hard_link(world.root().join("inside.txt"), world.root().join("twin.txt")).unwrap();
    assert_eq!(code(read(&world.tools(), "twin.txt")), HardLink);
    let trusting =
        Tools::builder().root(world.root()).hard_links(HardLinks::Allow).build().unwrap();
    assert_eq!(read(&trusting, "twin.txt").unwrap().text, "one\ntwo\nthree\n");
}

#[test]
fn a_file_that_may_not_be_read_says_so_and_whether_it_exists_outside_is_not_told() {
    let world = World::new();
    let tools = world.tools();
    let there = read(&tools, "../outside/secret.txt").unwrap_err();
    let not_there = read(&tools, "../outside/nothing.txt").unwrap_err();
    assert_eq!(there.says.replace("secret", "nothing"), not_there.says);
    assert_eq!((there.code, there.hint), (not_there.code, not_there.hint));
}

#[test]
fn several_roots_are_several_and_tools_without_any_read_nothing() {
    let world = World::new();
    let both = Tools::builder().root(world.root()).root(world.outside()).build().unwrap();
    let absolute = world.outside().join("secret.txt");
    assert_eq!(read(&both, absolute.to_str().unwrap()).unwrap().text, SECRET);
    // The way there goes out of one root and into the other.
    assert_eq!(read(&both, "../outside/secret.txt").unwrap().text, SECRET);
    let none = Tools::builder().build().unwrap();
    assert_eq!(code(read(&none, "inside.txt")), OutsideRoots);
    assert!(Tools::builder().root(world.root().join("inside.txt")).build().is_err());
    assert!(Tools::builder().root(world.root()).cwd(world.outside()).build().is_err());
}

#[test]
fn relative_paths_begin_in_the_working_directory() {
    let world = World::new();
    let cwd = world.root().join("folder");
    let tools = Tools::builder().root(world.root()).cwd(cwd).build().unwrap();
    assert_eq!(read(&tools, "deep.txt").unwrap().text, "deep\n");
    assert_eq!(read(&tools, "../inside.txt").unwrap().total_lines, 3);
    assert_eq!(code(read(&tools, "../../outside/secret.txt")), OutsideRoots);
}
