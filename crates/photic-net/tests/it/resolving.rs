//! Names are resolved once, every address is checked, and the checked address is dialed.

use photic_net::fetch::{Fetch, Refusal, Rules};

use crate::server::{reply, serve};
use crate::{Script, is_picture, picture, rules};

#[tokio::test]
async fn a_name_is_resolved_once_and_the_checked_address_dialed() {
    let (server, heads) = serve(|_| reply("200 OK", "", &picture(1000))).await;
    // The checked address leads to our server; any later one would lead elsewhere.
    let names = Script::new(&[Some(&["127.0.0.1"]), Some(&["127.0.0.9"])]);
    let fetch = Fetch::new(rules(server), names.clone());
    let address = format!("http://pictures.example:{}/a%20b.png?x=1#y", server.port());
    assert_eq!(fetch.get(&address).await, Ok(picture(1000)));
    assert_eq!(names.asked(), ["pictures.example"]);
    let head = heads.lock().unwrap()[0].to_ascii_lowercase();
    assert!(head.starts_with("get /a%20b.png?x=1 http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: pictures.example:{}\r\n", server.port())), "{head}");
    assert!(head.contains("accept-encoding: identity\r\n"), "{head}");
    for never in ["cookie", "authorization", "referer", "forwarded", "proxy"] {
        assert!(!head.contains(never), "{head}");
    }
    // The second time the name resolves to another address, which is checked, too.
    assert_eq!(fetch.get(&address).await, Err(Refusal::NotPublic));
}

#[tokio::test]
async fn a_name_that_turns_private_is_refused_from_then_on() {
    let names = Script::new(&[Some(&["8.8.8.8"]), Some(&["127.0.0.1"])]);
    let fetch = Fetch::new(Rules::new(is_picture), names);
    assert_eq!(fetch.check("https://rebound.example/").await, Ok(()));
    assert_eq!(fetch.get("https://rebound.example/").await, Err(Refusal::NotPublic));
}

#[tokio::test]
async fn one_bad_answer_among_good_ones_is_one_too_many() {
    for answers in [
        &["8.8.8.8", "10.0.0.1"][..],
        &["2606:4700:4700::1111", "::1"],
        &["169.254.169.254", "8.8.8.8"],
        &["8.8.8.8", "::ffff:127.0.0.1"],
    ] {
        let fetch = Fetch::new(Rules::new(is_picture), Script::new(&[Some(answers)]));
        assert_eq!(fetch.check("https://mixed.example/").await, Err(Refusal::NotPublic));
        assert_eq!(fetch.get("https://mixed.example/").await, Err(Refusal::NotPublic));
    }
}

#[tokio::test]
async fn no_answer_is_no() {
    for answers in [Some(&[][..]), None] {
        let fetch = Fetch::new(Rules::new(is_picture), Script::new(&[answers]));
        assert_eq!(fetch.get("https://nowhere.example/").await, Err(Refusal::Unresolved));
    }
}

#[tokio::test]
async fn what_is_allowed_is_one_address_with_one_port() {
    let (server, _) = serve(|_| reply("200 OK", "", &picture(1000))).await;
    let (other, heads) = serve(|_| reply("200 OK", "", &picture(1000))).await;
    let fetch = crate::fetch(server);
    assert!(fetch.get(&format!("http://{server}/")).await.is_ok());
    assert_eq!(fetch.get(&format!("http://{other}/")).await, Err(Refusal::Port));
    let elsewhere = format!("http://127.0.0.2:{}/", server.port());
    assert_eq!(fetch.get(&elsewhere).await, Err(Refusal::NotPublic));
    let public = format!("http://8.8.8.8:{}/", server.port());
    assert_eq!(fetch.get(&public).await, Err(Refusal::NotPublic));
    assert!(heads.lock().unwrap().is_empty());
}

#[tokio::test]
async fn hosts_are_listed_by_pattern() {
    let some = |patterns: &[&str]| patterns.iter().map(|&one| one.to_owned()).collect();
    let rules = Rules {
        hosts: some(&["*.example.com", "8.8.8.8"]),
        not_hosts: some(&["bad.*"]),
        ..Rules::new(is_picture)
    };
    let fetch = Fetch::new(rules, Script::new(&[Some(&["8.8.8.8"])]));
    for (address, verdict) in [
        ("https://a.example.com/", Ok(())),
        ("https://A.EXAMPLE.com./", Ok(())),
        ("https://8.8.8.8/", Ok(())),
        ("https://example.com/", Err(Refusal::Host)),
        ("https://bad.example.com/", Err(Refusal::Host)),
        ("https://a.example.com.evil.org/", Err(Refusal::Host)),
        ("https://1.1.1.1/", Err(Refusal::Host)),
    ] {
        assert_eq!(fetch.check(address).await, verdict, "{address}");
    }
}
