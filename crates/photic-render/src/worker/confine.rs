//! The confinement of a child before it reads a byte: time, memory, files, sockets, other
//! processes.
//!
//! On Unix, resource limits are the minimum. With a limit of no open files, the three pipes still
//! work, but nothing else can be opened, connected or listened on. With Landlock, starting
//! programs, renaming and deleting are forbidden as well. This must run while the process has one
//! thread, since Landlock applies to a thread and its children.

/// Gives up the rights of this process for good. An error means that nothing should be drawn.
#[cfg(unix)]
pub fn confine(processor_seconds: u64, memory: u64) -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = |resource, most: u64| {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    // Without the parent, an answer has no receiver.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    #[cfg(target_os = "linux")]
    landlock()?;
    // One second between the signal that counts as too slow and the one that cannot be caught.
    let hard = processor_seconds.saturating_add(1);
    let processor = Rlimit { current: Some(processor_seconds), maximum: Some(hard) };
    setrlimit(Resource::Cpu, processor)?;
    limit(Resource::As, memory)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, 0)?;
    Ok(())
}

/// Gives up nothing: without resource limits, only the parent's timeout limits a child.
#[cfg(not(unix))]
pub fn confine(_processor_seconds: u64, _memory: u64) -> std::io::Result<()> {
    Ok(())
}

/// Forbids all paths and ports, as far as this kernel supports it.
#[cfg(target_os = "linux")]
fn landlock() -> std::io::Result<()> {
    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, Scope};
    let newest = ABI::V6;
    // The crate's best-effort mode: an old kernel applies what it supports, without an error.
    Ruleset::default()
        .handle_access(AccessFs::from_all(newest))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(newest)))
        .and_then(|rules| rules.scope(Scope::from_all(newest)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self)
        .map(drop)
        .map_err(std::io::Error::other)
}
