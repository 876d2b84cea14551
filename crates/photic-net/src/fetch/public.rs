//! Tells public IP addresses from all others.
//!
//! This is an allow-list. Addresses that embed another one (NAT64, 6to4, Teredo, ISATAP) are
//! refused instead of unwrapped: no picture needs them, and unwrapping is easy to get wrong.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 ranges that are not public: IANA's special-purpose registry, multicast, reserved ranges,
/// and the address at which one cloud serves the secrets of its machines.
const SPECIAL_V4: [(Ipv4Addr, u32); 19] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(192, 175, 48, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The only globally routed IPv6 range.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Special-purpose ranges inside it: protocol assignments with Teredo, documentation (two ranges),
/// 6to4, and delegation of reverse lookups.
const SPECIAL_V6: [(Ipv6Addr, u32); 5] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Returns whether an address is reachable on the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    // `::ffff:a.b.c.d` is dialed as `a.b.c.d`.
    match address.to_canonical() {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|range| within_v4(address, *range)),
        IpAddr::V6(address) => {
            within_v6(address, GLOBAL_V6)
                && !SPECIAL_V6.iter().any(|range| within_v6(address, *range))
                && !is_tunnel_end(address)
        }
    }
}

/// Recognizes ISATAP: the lower half is a marker and an IPv4 address, under any prefix.
const fn is_tunnel_end(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [_, _, _, _, 0x0000 | 0x0200, 0x5efe, _, _])
}

fn within_v4(address: Ipv4Addr, (network, length): (Ipv4Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

fn within_v6(address: Ipv6Addr, (network, length): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and last address of every range, and its neighbors outside.
    #[test]
    fn ranges_end_where_they_end() {
        for (network, length) in SPECIAL_V4 {
            let first = network.to_bits();
            let last = first | u32::MAX.checked_shr(length).unwrap_or(0);
            for inside in [first, last] {
                assert!(!is_public(Ipv4Addr::from_bits(inside).into()), "{network}/{length}");
            }
            let special = |bits| SPECIAL_V4.iter().any(|range| within_v4(bits, *range));
            for outside in [first.checked_sub(1), last.checked_add(1)].into_iter().flatten() {
                let outside = Ipv4Addr::from_bits(outside);
                assert_eq!(is_public(outside.into()), !special(outside), "{outside}");
            }
        }
    }

    #[test]
    fn neighbors_of_special_addresses_are_public() {
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "2001:200::",
            "2001:4860:4860::8888",
            "2003::1",
            "2620:4f:7fff:ffff::",
            "3ffe:ffff:ffff::",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn what_is_not_known_to_be_public_is_not() {
        for private in [
            "::ffff:10.0.0.1",
            "1fff:ffff::",
            "4000::",
            "2001:1ff:ffff::",
            "2001:4860::200:5efe:808:808",
            "64:ff9b::808:808",
            "fe80::1",
            "fd12::1",
            "ff0e::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }
}
