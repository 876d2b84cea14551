//! Redirects: each is a URL from an untrusted source.

use photic_net::fetch::{Fetch, Refusal};

use crate::server::{redirect, reply, serve};
use crate::{Script, picture, rules};

#[tokio::test]
async fn three_are_followed_and_no_more() {
    let (server, heads) = serve(|head| {
        let path = head.split(' ').nth(1).unwrap();
        match path.trim_start_matches('/').parse::<usize>().unwrap() {
            0 => reply("200 OK", "set-cookie: a=b\r\n", &picture(600)),
            left => redirect(&format!("/{}", left - 1)),
        }
    })
    .await;
    let fetch = crate::fetch(server);
    assert_eq!(fetch.get(&format!("http://{server}/3")).await, Ok(picture(600)));
    assert_eq!(heads.lock().unwrap().len(), 4);
    assert_eq!(fetch.get(&format!("http://{server}/4")).await, Err(Refusal::Redirects));
    assert_eq!(heads.lock().unwrap().len(), 8);
    assert!(!heads.lock().unwrap().concat().to_ascii_lowercase().contains("cookie"));
}

#[tokio::test]
async fn a_loop_ends() {
    let (server, heads) = serve(|_| redirect("/")).await;
    assert_eq!(
        crate::fetch(server).get(&format!("http://{server}/")).await,
        Err(Refusal::Redirects)
    );
    assert_eq!(heads.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn each_is_checked_like_the_first() {
    let (secret, heads) = serve(|_| reply("200 OK", "", &picture(600))).await;
    let other = format!("http://{secret}/");
    for (location, rule) in [
        ("http://169.254.169.254/latest/meta-data/", Refusal::NotPublic),
        ("http://[::1]/", Refusal::NotPublic),
        ("//10.0.0.1/", Refusal::NotPublic),
        ("http://2130706433/", Refusal::NotPublic),
        ("http://name.example/", Refusal::NotPublic),
        ("file:///etc/passwd", Refusal::Scheme),
        ("gopher://127.0.0.1:6379/_INFO", Refusal::Scheme),
        ("http://a:b@8.8.8.8/", Refusal::Credentials),
        ("http://8.8.8.8:22/", Refusal::Port),
        ("http://[", Refusal::Redirect),
        (&other, Refusal::Port),
    ] {
        let to = location.to_owned();
        let (server, _) = serve(move |_| redirect(&to)).await;
        let fetch = Fetch::new(rules(server), Script::new(&[Some(&["192.168.0.1"])]));
        assert_eq!(fetch.get(&format!("http://{server}/")).await, Err(rule), "{location}");
    }
    assert!(heads.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_redirect_without_an_address() {
    let (server, _) = serve(|_| reply("301 Moved", "", &picture(600))).await;
    assert_eq!(
        crate::fetch(server).get(&format!("http://{server}/")).await,
        Err(Refusal::Redirect)
    );
}

#[tokio::test]
async fn a_name_that_means_something_else_at_the_second_hop() {
    let (server, heads) = serve(|_| redirect("/again")).await;
    let names = Script::new(&[Some(&["127.0.0.1"]), Some(&["127.0.0.5"])]);
    let fetch = Fetch::new(rules(server), names.clone());
    let address = format!("http://twice.example:{}/", server.port());
    assert_eq!(fetch.get(&address).await, Err(Refusal::NotPublic));
    assert_eq!((names.asked().len(), heads.lock().unwrap().len()), (2, 1));
}
