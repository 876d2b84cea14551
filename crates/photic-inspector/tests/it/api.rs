//! The answers over a recorded session: they are those of the store and of the plan.

use http::Method;
use photic_store::wait;
use serde_json::{Value, json};

use crate::world::{World, body, bytes, enter, request};

#[tokio::test]
async fn the_list_has_the_sums_of_the_store() {
    let world = World::new(3);
    let service = world.service();
    let (_, list) = world.ask(&service, "/sessions").await;
    let list: Value = serde_json::from_slice(&list).unwrap();
    let row = &list["items"][0];
    let stored = wait((*world.store).session(&world.id)).unwrap();
    assert_eq!(row["id"], world.id.as_str());
    assert_eq!(row["turns"], stored.turns);
    assert_eq!(row["pictures"], stored.images);
    // The numbers of `photic session ls`, with the price of the answers.
    let totals = world.store.record.totals(&world.store.tenant).unwrap();
    let totals = totals[&world.id];
    let usd = row["usd"].as_f64().unwrap();
    assert!((usd - (totals.usd.unwrap() + 3.0 * 0.001)).abs() < 1e-9, "{usd}");
    assert_eq!(row["reported"], 3);
    assert_eq!(list["totals"]["sessions"], 1);
    let (_, none) = world.ask(&service, "/sessions?q=nothing-like-it").await;
    let none: Value = serde_json::from_slice(&none).unwrap();
    assert_eq!(none["items"], json!([]));
}

#[tokio::test]
async fn rows_have_letters_reported_tokens_and_marks() {
    let world = World::new(3);
    let service = world.service();
    let page = world.get(&service, "/turns?from=1&limit=200").await;
    assert_eq!(page["total"], 3);
    let rows = page["items"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["fates"].clone()).collect::<Vec<_>>(), ["k", "kk", "kkk"]);
    let third = &rows[2];
    assert_eq!(third["reported"], true);
    assert_eq!(third["tokens"]["read"], 2700);
    assert_eq!(third["tokens"]["input"], 3700);
    assert_eq!(third["tokens"]["rest"], 0);
    assert_eq!(third["call"], "screenshot /home/ines/shop");
    assert!(third["came"].as_str().unwrap().starts_with("page 2"));
    assert!(third.get("first").is_none(), "the beginning is the same: {third}");
    for row in rows {
        let short = row.to_string().len();
        assert!(short <= 600, "{short} bytes: {row}");
    }
    let second = world.get(&service, "/turns?from=2&limit=1").await;
    assert_eq!(second["items"][0]["n"], 2);
    assert_eq!(second["next"], 3);
    assert_eq!(world.get(&service, "/turns?from=9").await["items"], json!([]));
}

#[tokio::test]
async fn a_dropped_picture_breaks_the_cache_at_the_byte_where_bodies_differ() {
    let world = World::new(2);
    world.drop_first();
    world.record(3);
    let service = world.service();
    let page = world.get(&service, "/turns").await;
    let row = &page["items"][2];
    assert_eq!(row["fates"], "dkk");
    assert_eq!(row["first"]["why"], "dropped");
    assert_eq!(row["first"]["pictures"], json!([1]));
    let byte = usize::try_from(row["first"]["byte"].as_u64().unwrap()).unwrap();
    let bodies: Vec<Vec<u8>> =
        [2, 3].map(|turn| wait(world.store.lower(&world.id, turn)).unwrap().body).to_vec();
    let plain = |body: &[u8]| {
        String::from_utf8_lossy(body).replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
    };
    let (before, now) = (plain(&bodies[0]), plain(&bodies[1][..byte]));
    assert!(before.starts_with(&now), "the same up to there");
    let next = plain(&bodies[1][..=byte]);
    assert!(!before.starts_with(&next), "and not beyond");
    let turn = world.get(&service, "/turns/3").await;
    assert_eq!(turn["cache"]["state"], "broken");
    let notice = turn["pictures"][0]["notice"].as_str().unwrap();
    assert!(String::from_utf8_lossy(&bodies[1]).contains(notice), "{notice}");
    let misses = world.get(&service, "/cost").await;
    assert_eq!(misses["misses"][0]["n"], 3);
}

#[tokio::test]
async fn a_turn_tells_sizes_as_the_provider_resolves_them() {
    let world = World::new(2);
    let service = world.service();
    let turn = world.get(&service, "/turns/2").await;
    assert_eq!(turn["request"]["reproduced"], "yes");
    assert_eq!(turn["request"]["bytes_in"], body(2).len());
    let stored = wait((*world.store).turn(&world.id, 2)).unwrap();
    assert_eq!(turn["request"]["bytes_sent"], stored.length);
    let images = wait(world.store.look(&world.id, 2)).unwrap().images;
    let profile = photic::profile::resolve(
        photic::Wire::Anthropic,
        Some("claude-opus-4-5"),
        Some("api.anthropic.com"),
    );
    for (shown, image) in turn["pictures"].as_array().unwrap().iter().zip(&images) {
        let (width, height) = image.sent.unwrap();
        let seen = profile.seen(width, height, None);
        assert_eq!(shown["seen"], json!([seen.width, seen.height]));
        assert_eq!(shown["tokens"], image.tokens.unwrap());
        assert_eq!(shown["reason"], image.fate.reason().name());
    }
    assert_eq!(turn["tries"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn hunks_applied_to_the_clients_body_give_the_models() {
    let world = World::new(2);
    world.drop_first();
    world.record(3);
    let service = world.service();
    let client = wait(world.store.body(&world.id, 3)).unwrap();
    let model = wait(world.store.lower(&world.id, 3)).unwrap().body;
    let page = world.get(&service, "/turns/3/changes").await;
    let at = |hunk: &Value, name: &str| usize::try_from(hunk[name].as_u64().unwrap()).unwrap();
    let (mut built, mut end) = (Vec::new(), 0);
    let hunks = page["items"].as_array().unwrap();
    assert!(!hunks.is_empty());
    for hunk in hunks {
        built.extend_from_slice(&client[end..at(hunk, "a_from")]);
        built.extend_from_slice(&model[at(hunk, "b_from")..at(hunk, "b_to")]);
        end = at(hunk, "a_to");
    }
    built.extend_from_slice(&client[end..]);
    assert_eq!(built, model);
    assert!(hunks.iter().all(|hunk| hunk["did"] == "not_shown"), "{hunks:#?}");
    let dropped = hunks.iter().find(|hunk| hunk["picture"] == 1).unwrap();
    assert_eq!(dropped["did"], "not_shown");
    assert_eq!(dropped["as_before"], false);
}

#[tokio::test]
async fn messages_have_pictures_notices_and_cut_texts() {
    let world = World::new(2);
    world.drop_first();
    world.record(3);
    let service = world.service();
    let page = world.get(&service, "/turns/3/messages?side=model").await;
    assert_eq!(page["total"], 7);
    let text = page.to_string();
    assert!(text.contains("\"kind\":\"notice\""), "{text}");
    assert!(text.contains("\"picture\":2"));
    assert_eq!(page["system"]["text"], "You help customers.");
    let client = world.get(&service, "/turns/3/messages?side=client&from=2&limit=1").await;
    assert_eq!(client["items"].as_array().unwrap().len(), 1);
    assert_eq!(client["items"][0]["index"], 2);
    assert_eq!(client["next"], 3);
    assert!(client.to_string().contains("\"picture\":1"), "the agent sent it: {client}");
    let (status, _) =
        world.ask(&service, &format!("/sessions/{}/turns/3/messages?side=other", world.id)).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn a_choice_takes_effect_on_the_next_turn_and_can_be_taken_back() {
    let world = World::new(2);
    let service = world.service();
    let cookie = enter(&service).await;
    let path = format!("/sessions/{}/pictures/1/choice", world.id);
    let headers = [("cookie", cookie.as_str()), ("x-photic-inspect", "1")];
    let choose = |body: &'static str| service.respond(request(Method::POST, &path, &headers, body));
    let answer = choose("{\"choice\":\"drop\"}").await;
    assert_eq!(answer.status(), 200);
    let answer: Value = serde_json::from_slice(&bytes(answer).await).unwrap();
    assert_eq!(answer["forecast"][0]["active"], true);
    let chosen = wait(world.store.choices(&world.id)).unwrap();
    assert_eq!(chosen.into_values().collect::<Vec<_>>(), [photic::Choice::Drop]);
    // What was recorded does not change.
    assert_eq!(world.get(&service, "/turns").await["items"][1]["fates"], "kk");
    world.record(3);
    assert_eq!(world.get(&service, "/turns").await["items"][2]["fates"], "dkk");
    assert_eq!(choose("{\"choice\":null}").await.status(), 200);
    assert!(wait(world.store.choices(&world.id)).unwrap().is_empty());
}

#[tokio::test]
async fn a_picture_tells_its_cost_and_what_choices_do() {
    let world = World::new(3);
    let service = world.service();
    let picture = world.get(&service, "/pictures/1").await;
    assert_eq!(picture["turn"], 1);
    assert_eq!(picture["turns"].as_array().unwrap().len(), 3);
    assert_eq!(picture["cost"]["turns_shown"], 3);
    let each = picture["turns"].as_array().unwrap().iter();
    let sum: f64 = each.filter_map(|turn| turn["usd"].as_f64()).sum();
    assert!((sum - picture["cost"]["usd"].as_f64().unwrap()).abs() < 1e-7);
    let dropped = &picture["forecast"][0];
    assert_eq!(dropped["choice"], "drop");
    assert_eq!(dropped["possible"], true);
    assert!(dropped["saves_tokens"].as_u64().unwrap() > 0);
    let (status, _) = world.ask(&service, &format!("/sessions/{}/pictures/9", world.id)).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn two_turns_are_compared_message_by_message() {
    let world = World::new(2);
    world.drop_first();
    world.record(3);
    let service = world.service();
    let compared = world.get(&service, "/compare?a=2&b=3").await;
    assert_eq!(compared["first"]["why"], "dropped");
    let kinds: Vec<&str> = compared["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["same", "changed", "same", "added", "added"]);
    assert_eq!(compared["messages"][1]["text"], "#1 dropped");
    let names: Vec<&Value> =
        compared["settings"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["choices"]);
    assert!(compared["gone_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn costs_of_turns_are_what_was_reported() {
    let world = World::new(3);
    let service = world.service();
    let cost = world.get(&service, "/cost").await;
    let turns = cost["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 3);
    for turn in turns {
        assert!((turn["usd"].as_f64().unwrap() - 0.011).abs() < 1e-9, "{turn}");
        let parts: f64 =
            ["pictures", "words", "answer"].map(|name| turn[name].as_f64().unwrap()).iter().sum();
        assert!((parts - 0.011).abs() < 1e-7, "{turn}");
    }
    let names: Vec<&Value> =
        cost["policies"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["paid", "all", "priced", "optimum"]);
    let last = |name: usize| cost["policies"][name]["usd"].as_array().unwrap()[2].as_f64().unwrap();
    assert!((last(0) - 0.03).abs() < 1e-9);
    assert!(last(3) <= last(1) + 1e-12, "nothing is cheaper than the optimum");
}

#[tokio::test]
async fn search_finds_numbers_pictures_and_words() {
    let world = World::new(3);
    let service = world.service();
    let first = |hits: Value| hits["items"][0].clone();
    let turn = first(world.get(&service, "/search?q=2").await);
    assert_eq!((&turn["kind"], &turn["turn"]), (&json!("turn"), &json!(2)));
    let picture = first(world.get(&service, "/search?q=%233").await);
    assert_eq!((&picture["kind"], &picture["picture"]), (&json!("picture"), &json!(3)));
    let hits = world.get(&service, "/search?q=refund").await;
    assert!(hits.to_string().contains("\"kind\":\"text\""), "{hits}");
}

#[tokio::test]
async fn what_does_not_exist_is_not_found() {
    let world = World::new(1);
    let service = world.service();
    let id = &world.id;
    for path in [
        "/nothing".to_owned(),
        "/sessions/s_0000000000000000".to_owned(),
        "/sessions/none".to_owned(),
        format!("/sessions/{id}/turns/2"),
        format!("/sessions/{id}/turns/0"),
        format!("/sessions/{id}/turns/x"),
        format!("/sessions/{id}/pictures/1/nothing"),
        format!("/sessions/{id}/pictures/7/thumb"),
        format!("/sessions/{id}/turns/1/messages?side=reply"),
    ] {
        let (status, body) = world.ask(&service, &path).await;
        assert_eq!(status, 404, "{path}: {}", String::from_utf8_lossy(&body));
    }
}

#[tokio::test]
async fn a_turn_of_another_version_is_told_and_not_guessed() {
    let world = World::new(2);
    let service = world.service();
    // The bytes of a picture that was shown are gone.
    let images = wait(world.store.images(&world.id)).unwrap();
    let digest = images[0].digest.unwrap();
    let gone = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    wait(photic_store::Blobs::remove(&world.store.blobs, &digest.into(), gone)).unwrap();
    let id = &world.id;
    for kind in ["thumb", "original", "sent", "seen"] {
        let (status, _) = world.ask(&service, &format!("/sessions/{id}/pictures/1/{kind}")).await;
        assert_eq!(status, 410, "{kind}");
    }
    let (status, _) = world.ask(&service, &format!("/sessions/{id}/turns/2/changes")).await;
    assert_eq!(status, 410);
    // The rest of the turn is still known.
    let turn = world.get(&service, "/turns/2").await;
    assert_eq!(turn["fates"], "kk");
    assert!(turn["request"].get("reproduced").is_none());
    assert!(wait(world.store.body(&world.id, 2)).is_err());
}
