//! Every URL of the corpus is refused or allowed as stated.
//!
//! `deny`: refused whatever names resolve to. `allow`: a public address. `dns`: a name; the
//! resolved address decides.

use photic_net::fetch::{Fetch, Refusal, Rules};

use crate::{Script, is_picture};

const CORPUS: &str = include_str!("../data/addresses.txt");

/// Spellings that the corpus lacks.
const MORE: &str = "
deny unix:/var/run/docker.sock
deny http+unix://%2Fvar%2Frun%2Fdocker.sock/images/json
deny https://user:secret@8.8.8.8/
deny http://:secret@8.8.8.8/
deny http://8.8.8.8:22/
deny http://8.8.8.8:8080/
deny https://8.8.8.8:6379/
deny http://8.8.8.8:0/
deny http://8.8.8.8:65536/
deny //8.8.8.8/
deny 8.8.8.8
deny http://
deny http:///
deny http://./
deny http://[::ffff:0:127.0.0.1]/
deny http://[::ffff:192.168.0.1]/
deny http://[fe80::1%eth0]/
deny http://0x7f.1/
deny http://127.0.0.1:80/
deny http://127.0.0.1:443/
deny http://\t127.0.0.1/
deny http://[2001:db8::]/
deny http://192.88.99.1/
deny http://0300.0250.0.1/
deny http://169.254.169.254.:80/
deny https://\u{2460}\u{2468}\u{2461}.168.0.1/
allow https://8.8.8.8/
allow http://8.8.8.8:443/
allow https://[2606:4700:4700::1111]:443/a?b#c
allow HTTPS://8.8.8.8/
allow http://[::ffff:8.8.8.8]/
dns https://example.com./
dns https://sub.example.com:80/
";

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = CORPUS.lines().chain(MORE.lines());
    lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

/// Creates a fetch with a resolver that answers this.
fn where_names_are(answer: &str) -> Fetch {
    Fetch::new(Rules::new(is_picture), Script::new(&[Some(&[answer])]))
}

#[tokio::test]
async fn every_line_of_the_corpus() {
    let mut counts = [0; 3];
    let [public, private] = ["8.8.8.8", "127.0.0.1"].map(where_names_are);
    for (verdict, address) in lines() {
        let (public, private) = (public.check(address).await, private.check(address).await);
        match verdict {
            "allow" => {
                assert_eq!((public, private), (Ok(()), Ok(())), "{address}");
                counts[0] += 1;
            }
            "deny" => {
                assert!(public.is_err() && private.is_err(), "{address} {public:?} {private:?}");
                counts[1] += 1;
            }
            "dns" => {
                assert_eq!((public, private), (Ok(()), Err(Refusal::NotPublic)), "{address}");
                counts[2] += 1;
            }
            other => panic!("{other}"),
        }
    }
    // No line is skipped by mistake.
    assert_eq!(counts, [12, 99, 11]);
}

#[tokio::test]
async fn every_private_answer_to_a_name() {
    for (verdict, address) in lines().filter(|(verdict, _)| *verdict == "deny") {
        let Some(host) = address.strip_prefix("http://") else { continue };
        let host = host.trim_end_matches('/');
        let Ok(number) = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>() else {
            continue;
        };
        let fetch = where_names_are(&number.to_string());
        let judged = fetch.check("http://name.example/").await;
        assert_eq!(judged, Err(Refusal::NotPublic), "{verdict} {address}");
    }
}

#[tokio::test]
async fn the_rule_that_refused_is_named_and_a_way_out() {
    let fetch = where_names_are("8.8.8.8");
    for (address, rule) in [
        ("not an address", Refusal::NoAddress),
        ("ftp://example.com/a.png", Refusal::Scheme),
        ("https://a:b@example.com/", Refusal::Credentials),
        ("https://example.com:8443/", Refusal::Port),
        ("https://10.0.0.1/", Refusal::NotPublic),
    ] {
        assert_eq!(fetch.check(address).await, Err(rule), "{address}");
        assert!(!rule.hint().is_empty() && !rule.name().contains(' '));
        assert!(!format!("{rule} {rule:?} {}", rule.hint()).contains("10.0"));
    }
}
