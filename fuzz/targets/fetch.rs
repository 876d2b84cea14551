//! Any address, any redirect and any answer of a name server: nothing may be dialed that an
//! independent reading calls private.
#![no_main]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, OnceLock};

use libfuzzer_sys::fuzz_target;
use photic_net::fetch::{Fetch, Resolve, Resolving, Rules};
use url::{Host, Url};

/// What every name resolves to.
static FOUND: Mutex<Vec<IpAddr>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Scripted;

impl Resolve for Scripted {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(std::future::ready(Ok(FOUND.lock().unwrap().clone())))
    }
}

/// Made once: it reads the certificates of the system.
fn guard() -> &'static Fetch {
    static GUARD: OnceLock<Fetch> = OnceLock::new();
    GUARD.get_or_init(|| Fetch::new(Rules::new(|_| true), Arc::new(Scripted)))
}

/// By what the standard library knows, and by hand what it does not; written without a look at the
/// guard's own list.
fn is_forbidden(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_forbidden_v4(v4),
        IpAddr::V6(v6) => is_forbidden_v6(v6),
    }
}

fn is_forbidden_v4(v4: Ipv4Addr) -> bool {
    let [a, b, ..] = v4.octets();
    v4.is_loopback()
        || v4.is_private()
        || v4.is_link_local()
        || v4.is_unspecified()
        || v4.is_broadcast()
        || v4.is_multicast()
        || v4.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19))
}

fn is_forbidden_v6(v6: Ipv6Addr) -> bool {
    let s = v6.segments();
    let low = Ipv4Addr::new((s[6] >> 8) as u8, s[6] as u8, (s[7] >> 8) as u8, s[7] as u8);
    let inside_6to4 = Ipv4Addr::new((s[1] >> 8) as u8, s[1] as u8, (s[2] >> 8) as u8, s[2] as u8);
    v6.is_loopback()
        || v6.is_unspecified()
        || v6.is_multicast()
        || v6.is_unique_local()
        || v6.is_unicast_link_local()
        || v6.to_ipv4_mapped().is_some_and(is_forbidden_v4)
        || (s[0] == 0xfec0)
        // Addresses that carry another one: compatible, NAT64, 6to4, Teredo, ISATAP.
        || (s[..6] == [0; 6] && is_forbidden_v4(low))
        || (s[..6] == [0x64, 0xff9b, 0, 0, 0, 0] && is_forbidden_v4(low))
        || (s[0] == 0x64 && s[1] == 0xff9b && s[2] == 1)
        || (s[0] == 0x2002 && is_forbidden_v4(inside_6to4))
        || (s[0] == 0x2001 && s[1] == 0)
        || (s[4] & 0xfdff == 0 && s[5] == 0x5efe && is_forbidden_v4(low))
        || (s[0] == 0x2001 && s[1] == 0xdb8)
}

fuzz_target!(|bytes: &[u8]| {
    // One byte says how many addresses the name has, then they come, then the texts.
    let [count, rest @ ..] = bytes else { return };
    let mut rest = rest;
    let mut found = Vec::new();
    for at in 0..count % 4 {
        if count >> (at + 2) & 1 == 0 {
            let Some((v4, after)) = rest.split_first_chunk::<4>() else { return };
            found.push(IpAddr::from(*v4));
            rest = after;
        } else {
            let Some((v6, after)) = rest.split_first_chunk::<16>() else { return };
            found.push(IpAddr::from(*v6));
            rest = after;
        }
    }
    let text = String::from_utf8_lossy(rest);
    let (address, location) = text.split_once('\n').unwrap_or((&text, ""));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    FOUND.lock().unwrap().clone_from(&found);
    let fetch = guard();
    let judge = |url: Option<Url>| {
        let url = url.expect("an address that is no address was allowed");
        assert!(matches!(url.scheme(), "http" | "https"), "{url}");
        assert!(url.username().is_empty() && url.password().is_none(), "{url}");
        assert!(matches!(url.port_or_known_default(), Some(80 | 443)), "{url}");
        let dialed = match url.host() {
            Some(Host::Ipv4(v4)) => vec![v4.into()],
            Some(Host::Ipv6(v6)) => vec![v6.into()],
            _ => found.clone(),
        };
        assert!(!dialed.is_empty(), "{url}");
        for address in dialed {
            assert!(!is_forbidden(address), "{url} leads to {address}");
        }
    };
    if runtime.block_on(fetch.check(address)).is_ok() {
        judge(Url::parse(address).ok());
    }
    if runtime.block_on(fetch.check_redirect(address, location)).is_ok() {
        let from = Url::parse(address).ok();
        let to = from.as_ref().and_then(|from| from.join(location).ok());
        if let (Some(from), Some(to)) = (from, &to) {
            assert!(from.scheme() != "https" || to.scheme() == "https", "{from} → {to}");
        }
        judge(to);
    }
});
