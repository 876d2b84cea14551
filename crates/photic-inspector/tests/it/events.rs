//! Events tell what is new, and a page that was away is told to read again.

use std::time::Duration;

use http::{Method, Response};
use http_body_util::BodyExt as _;
use photic_inspector::{Access, ResponseBody, Service, Token};
use photic_store::events::RecordChange;
use photic_store::{Events, Tenant};

use crate::world::{TOKEN, World, enter, request};

/// Reads a stream until it has a word; fails after a generous time.
async fn until(response: &mut Response<ResponseBody>, word: &str) -> String {
    let mut text = String::new();
    let reading = async {
        while !text.contains(word) {
            let frame = response.body_mut().frame().await.unwrap().unwrap();
            text.push_str(&String::from_utf8_lossy(&frame.into_data().unwrap()));
        }
    };
    let read = tokio::time::timeout(Duration::from_mins(1), reading).await;
    assert!(read.is_ok(), "no `{word}` in: {text}");
    text
}

#[tokio::test]
async fn a_new_turn_is_told_with_its_row() {
    let world = World::new(1);
    let service = world.service();
    let cookie = enter(&service).await;
    let path = format!("/events?session={}", world.id);
    let mut stream = service.respond(request(Method::GET, &path, &[("cookie", &cookie)], "")).await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    // What is there before is not new.
    until(&mut stream, ": ready").await;
    world.record(2);
    let told = until(&mut stream, "\"n\":2").await;
    assert!(told.contains("event: turn") && told.contains("id: "), "{told}");
    world.drop_first();
    until(&mut stream, "event: choice").await;
}

#[tokio::test]
async fn a_gateway_tells_what_it_publishes_for_the_tenant() {
    let world = World::new(1);
    let (events, tenant) = (Events::default(), Tenant::local());
    let inspector = world.inspector().with_events(events.clone(), tenant.clone());
    let token = Token::new(TOKEN).unwrap();
    let access = Access::new(token, "127.0.0.1:4142".parse().unwrap(), &[]);
    let service = Service::new(inspector, access);
    let cookie = enter(&service).await;
    let path = format!("/events?session={}", world.id);
    let mut stream = service.respond(request(Method::GET, &path, &[("cookie", &cookie)], "")).await;
    // The last turn is told at the start: it may be news to the page.
    until(&mut stream, "\"n\":1").await;
    world.record(2);
    events.publish(&Tenant::new("another"), Some(&world.id), RecordChange::Gone);
    events.publish(&tenant, Some(&world.id), RecordChange::Turn { number: 2 });
    let told = until(&mut stream, "\"n\":2").await;
    assert!(!told.contains("event: gone"), "{told}");
    assert!(told.contains("-2\nevent: turn"), "the number of the second event: {told}");
    service.stop();
}

#[tokio::test]
async fn a_page_of_another_process_is_told_to_read_again() {
    let world = World::new(1);
    let service = world.service();
    let cookie = enter(&service).await;
    let headers = [("cookie", cookie.as_str()), ("last-event-id", "00000000-7")];
    let mut stream = service.respond(request(Method::GET, "/events", &headers, "")).await;
    until(&mut stream, "event: reset").await;
}

#[tokio::test]
async fn sixteen_pages_may_listen_and_a_closed_one_makes_room() {
    let world = World::new(1);
    let service = world.service();
    let cookie = enter(&service).await;
    let listen = || service.respond(request(Method::GET, "/events", &[("cookie", &cookie)], ""));
    let mut streams = Vec::new();
    for _ in 0..16 {
        let stream = listen().await;
        assert_eq!(stream.status(), 200);
        streams.push(stream);
    }
    assert_eq!(listen().await.status(), 429);
    drop(streams.pop());
    assert_eq!(listen().await.status(), 200);
    service.stop();
}
