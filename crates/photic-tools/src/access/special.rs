//! System-specific checks of files: opening without blocking, and kinds of descriptors.

use std::fs::{File, Metadata};
use std::io;

use cap_std::fs::OpenOptions;

/// Makes an open return at once: a pipe without a writer would block forever, and a terminal would
/// become the controlling one.
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

/// Returns whether the kernel generates the file. `/proc` and `/sys` expose keys, memory and
/// switches as regular files.
#[cfg(target_os = "linux")]
pub(super) fn is_generated(file: &File) -> bool {
    /// `proc`, `sysfs`, `debugfs`, `tracefs`, `securityfs`, `cgroup`, `cgroup2`, `bpf`, `configfs`,
    /// `efivarfs`, `selinuxfs`, as numbered in `linux/magic.h`.
    const GENERATED: [u64; 11] = [
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
    // The width of the field differs between systems; the magic numbers have 32 bits. An unknown
    // file system counts as generated, which refuses only this file.
    rustix::fs::fstatfs(file)
        .map_or(true, |system| GENERATED.contains(&(system.f_type as u64 & 0xffff_ffff)))
}

/// Returns false: other systems have no such files.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_generated(_: &File) -> bool {
    false
}

/// Returns the number of hard links.
#[cfg(unix)]
pub(super) fn hard_link_count(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.nlink()
}

/// Returns 1: stable Rust does not report the number here.
#[cfg(not(unix))]
pub(super) fn hard_link_count(_: &Metadata) -> u64 {
    1
}

/// Returns whether symbolic links form a loop or are magic links of the kernel.
pub(super) fn is_link_loop(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}
