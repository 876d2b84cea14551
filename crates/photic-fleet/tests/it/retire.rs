//! Days are dropped whole: their sessions are gone, and the others miss nothing.

use std::time::Duration;

use photic_store::contract::{self, Conversation, picture};
use photic_store::record::MadeBlob;
use photic_store::{
    BlobError, BlobId, Blobs as _, Error, Facts, Handles as _, Media as _, NewMedia, Tenant,
};

use photic_fleet::Derivatives as _;

use crate::servers::places;

#[tokio::test(flavor = "multi_thread")]
async fn days_go_whole_and_pinned_pictures_stay() {
    for place in places().await {
        let fleet = place.open().await;
        let store = fleet.store(Tenant::new("retired"));
        let mut talk = Conversation::new("look");
        for seed in 0..3 {
            talk.look(&picture(seed, 2000));
        }
        let old = store.begin("old").await.unwrap();
        talk.send(&store, &old, 1).await.unwrap();
        let handle = |seed| {
            let blob = BlobId::of(&picture(seed, 2000));
            let store = store.clone();
            async move { store.name(blob.as_bytes()).await.unwrap() }
        };
        let (pinned, other) = (handle(0).await, handle(1).await);
        assert!(store.record.pin(&store.tenant, &pinned).await.unwrap());
        let made = MadeBlob {
            blob: BlobId::of(&picture(2, 2000)),
            media_type: "image/png".into(),
            size: (1280, 800),
        };
        fleet.record.keep_derivative(&store.tenant, &[7; 16], &made).await.unwrap();
        let found = fleet.record.derivative(&store.tenant, &[7; 16]).await.unwrap();
        assert_eq!(found, Some(made));
        assert_eq!(fleet.record.derivative(&Tenant::new("x"), &[7; 16]).await.unwrap(), None);

        // The pictures again, days later: the new session has its own copies.
        fleet.record.pretend_later(5);
        let new = store.begin("new").await.unwrap();
        let (_, sent) = talk.send(&store, &new, 2).await.unwrap();
        assert_eq!(fleet.retire(5).await.unwrap().days, [] as [i32; 0]);
        let retired = fleet.retire(4).await.unwrap();
        println!("{}: {retired:?}", place.server);
        assert_eq!((retired.days.len(), retired.objects), (1, 1));
        let gone = store.session(&old).await;
        assert!(matches!(gone, Err(Error::NoSession(_))), "{gone:?}");
        assert_eq!(store.body(&new, 1).await.unwrap(), talk.body());
        assert_eq!(store.lower(&new, 1).await.unwrap().body, sent);
        assert_eq!(fleet.record.derivative(&store.tenant, &[7; 16]).await.unwrap(), None);

        // The new session goes, too, and only pinned blobs are left.
        fleet.record.pretend_later(5);
        let retired = fleet.retire(0).await.unwrap();
        assert_eq!((retired.kept, store.sessions().await.unwrap().len()), (1, 0));
        let issued = store.record.resolve(&store.tenant, &pinned).await.unwrap().unwrap();
        assert_eq!(store.blobs.get(&issued.blob).await.unwrap(), picture(0, 2000));
        assert_eq!(store.record.resolve(&store.tenant, &other).await.unwrap(), None);
        assert!(fleet.bucket.list("t").await.unwrap().is_empty());
        assert_eq!(contract::existing(&store).await.unwrap().blobs, 1);

        // Unpinned, it belongs to this day and goes with it.
        store.record.unpin(&store.tenant, &pinned).await.unwrap();
        fleet.retire(0).await.unwrap();
        assert_eq!(store.blobs.get(&issued.blob).await.unwrap(), picture(0, 2000));
        fleet.record.pretend_later(1);
        fleet.retire(0).await.unwrap();
        assert_eq!(store.record.resolve(&store.tenant, &pinned).await.unwrap(), None);
        assert!(fleet.bucket.list("kept").await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_again_goes_with_the_later_day_and_references_keep_what_they_name() {
    for place in places().await {
        let fleet = place.open().await;
        let store = fleet.store(Tenant::new("again"));
        let pictures: Vec<Vec<u8>> = (0..3).map(|seed| picture(seed, 2000)).collect();
        let ids = store.blobs.put_all(&pictures).await.unwrap();
        let mint = async |at: usize, lasting| {
            let minting = NewMedia {
                blob: ids[at],
                facts: Facts::default(),
                memory: photic::MediaStub::of(&photic::media::Payload::encode(&pictures[at]))
                    .unwrap(),
                session: None,
                lasting,
            };
            store.record.create_media(&store.tenant, &minting).await.unwrap()
        };
        let short = mint(0, Duration::from_millis(1)).await;
        let long = mint(1, Duration::from_hours(24)).await;

        fleet.record.pretend_later(3);
        store.blobs.touch(&ids[2..]).await.unwrap();
        assert_eq!(store.blobs.places(&ids[2]).await.unwrap().len(), 2);
        // Repeating on the same day does nothing.
        store.blobs.touch(&ids[2..]).await.unwrap();
        assert_eq!(store.blobs.places(&ids[2]).await.unwrap().len(), 2);
        let retired = fleet.retire(1).await.unwrap();
        assert_eq!((retired.objects, retired.kept), (1, 1), "{}: {retired:?}", place.server);
        assert_eq!(store.blobs.get(&ids[2]).await.unwrap(), pictures[2]);
        let gone = store.blobs.touch(&ids[..1]).await;
        assert!(matches!(gone, Err(BlobError::Absent(_))), "{gone:?}");

        let held = store.record.media(&store.tenant, &[short, long.clone()]).await.unwrap();
        assert_eq!(held.keys().collect::<Vec<_>>(), [&long]);
        assert_eq!(store.blobs.get(&held[&long].blob).await.unwrap(), pictures[1]);
        let pool = sqlx::PgPool::connect(&place.database).await.unwrap();
        let rows: i64 =
            sqlx::query_scalar("SELECT count(*) FROM media").fetch_one(&pool).await.unwrap();
        assert_eq!(rows, 1, "what ended is gone");
        // A deleted reference takes its copy along.
        assert!(store.record.delete_media(&store.tenant, &long).await.unwrap());
        fleet.retire(1).await.unwrap();
        assert!(fleet.bucket.list("kept").await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_whose_beginning_is_gone_goes_on() {
    for place in places().await.into_iter().take(1) {
        let fleet = place.open().await;
        let store = fleet.store(Tenant::new("going on"));
        let mut talk = Conversation::new("look");
        talk.look(&picture(1, 2000));
        let first = store.begin("first").await.unwrap();
        talk.send(&store, &first, 1).await.unwrap();
        fleet.record.pretend_later(1);
        // The day after, the session continues in the partitions of its first day.
        talk.look(&picture(2, 2000));
        talk.send(&store, &first, 2).await.unwrap();
        assert_eq!(store.body(&first, 2).await.unwrap(), talk.body());
        fleet.retire(0).await.unwrap();
        let body = talk.body();
        let transcript = photic::lift(photic::Wire::OpenAiChat, &body).0;
        assert_eq!(store.session_of(&transcript).await.unwrap(), None);
        let second = store.begin("second").await.unwrap();
        talk.look(&picture(3, 2000));
        let (_, sent) = talk.send(&store, &second, 3).await.unwrap();
        assert_eq!(store.body(&second, 1).await.unwrap(), talk.body());
        assert_eq!(store.lower(&second, 1).await.unwrap().body, sent);
    }
}
