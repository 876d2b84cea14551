//! What a child gives up before it reads a byte: time, memory, files, sockets, other processes.
//!
//! The floor everywhere on Unix is resource limits. With a limit of no open files the three pipes
//! it was born with go on working, and nothing else can be opened, connected or listened on. Where
//! the kernel has Landlock, what needs no descriptor (starting programs, renaming, deleting) goes,
//! too. Must run while the process has one thread: Landlock binds a thread and its children.

/// Takes the rights of this process away, for good. What cannot be taken is an error: then nothing
/// should be drawn.
#[cfg(unix)]
pub fn confine(processor_seconds: u64, memory: u64) -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = |resource, most: u64| {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    // Without the parent there is nobody to answer.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    #[cfg(target_os = "linux")]
    landlock()?;
    // One second between the signal that is counted as too slow, and the one that cannot be missed.
    let hard = processor_seconds.saturating_add(1);
    let processor = Rlimit { current: Some(processor_seconds), maximum: Some(hard) };
    setrlimit(Resource::Cpu, processor)?;
    limit(Resource::As, memory)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, 0)?;
    Ok(())
}

/// Takes nothing away: without resource limits, the parent's clock is what bounds a child.
#[cfg(not(unix))]
pub fn confine(_processor_seconds: u64, _memory: u64) -> std::io::Result<()> {
    Ok(())
}

/// No path may be touched and no port used, as far as this kernel can forbid it.
#[cfg(target_os = "linux")]
fn landlock() -> std::io::Result<()> {
    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, Scope};
    let newest = ABI::V6;
    // Best effort is the crate's own way: an old kernel gives what it has, and says so without an
    // error.
    Ruleset::default()
        .handle_access(AccessFs::from_all(newest))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(newest)))
        .and_then(|rules| rules.scope(Scope::from_all(newest)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self)
        .map(drop)
        .map_err(std::io::Error::other)
}
