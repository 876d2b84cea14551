//! What differs between systems: how to open without waiting, and what a descriptor is.

use std::fs::{File, Metadata};
use std::io;

use cap_std::fs::OpenOptions;

/// Makes an open return at once, whatever is there: a pipe without a writer would wait for ever,
/// and a terminal would become ours.
pub(super) fn without_waiting(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// Whether the kernel makes the file up: `/proc` and `/sys` hold keys, memory and switches as
/// regular files.
#[cfg(target_os = "linux")]
pub(super) fn made_up(file: &File) -> bool {
    /// `proc`, `sysfs`, `debugfs`, `tracefs`, `securityfs`, `cgroup`, `cgroup2`, `bpf`, `configfs`,
    /// `efivarfs`, `selinuxfs`, as `linux/magic.h` numbers them.
    const MADE_UP: [u64; 11] = [
        0x9fa0,
        0x6265_6572,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0x0027_e0eb,
        0x6367_7270,
        0xcafe_4a11,
        0x6265_6570,
        0xde5e_81e4,
        0xf97c_ff8c,
    ];
    // The width of the number differs between systems; the magics are 32 bits everywhere. A file
    // system that does not say what it is counts as made up: nothing is lost but that file.
    rustix::fs::fstatfs(file)
        .map_or(true, |system| MADE_UP.contains(&(system.f_type as u64 & 0xffff_ffff)))
}

/// Other systems have no such files among the regular ones.
#[cfg(not(target_os = "linux"))]
pub(super) fn made_up(_: &File) -> bool {
    false
}

/// How many names a file has.
#[cfg(unix)]
pub(super) fn names(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.nlink()
}

/// Not told by stable Rust.
#[cfg(not(unix))]
pub(super) fn names(_: &Metadata) -> u64 {
    1
}

/// Whether links led in circles, or were of the kind that only the kernel can follow.
pub(super) fn circles(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}
