//! Days go whole: what began then is gone, and nothing that stays misses anything.

use photic_store::contract::{self, Conversation, picture};
use photic_store::record::MadeBlob;
use photic_store::{BlobId, Blobs as _, Error, Handles as _, Tenant};

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
        assert!(store.record.pin(&store.tenant, &pinned, true).await.unwrap());
        let made = MadeBlob {
            blob: BlobId::of(&picture(2, 2000)),
            media_type: "image/png".into(),
            size: (1280, 800),
        };
        fleet.record.keep_derivative(&store.tenant, &[7; 16], &made).await.unwrap();
        let found = fleet.record.derivative(&store.tenant, &[7; 16]).await.unwrap();
        assert_eq!(found, Some(made));
        assert_eq!(fleet.record.derivative(&Tenant::new("x"), &[7; 16]).await.unwrap(), None);

        // The same pictures again, days later: the new session has copies of its own.
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

        // Now the new session goes, too, and all that is left is what was pinned.
        fleet.record.pretend_later(5);
        let retired = fleet.retire(0).await.unwrap();
        assert_eq!((retired.kept, store.sessions().await.unwrap().len()), (1, 0));
        let issued = store.record.resolve(&store.tenant, &pinned).await.unwrap().unwrap();
        assert_eq!(store.blobs.get(&issued.blob).await.unwrap(), picture(0, 2000));
        assert_eq!(store.record.resolve(&store.tenant, &other).await.unwrap(), None);
        assert!(fleet.bucket.list("t").await.unwrap().is_empty());
        assert_eq!(contract::existing(&store).await.unwrap().blobs, 1);

        // Let go of, it has this day, and goes with it.
        store.record.pin(&store.tenant, &pinned, false).await.unwrap();
        fleet.retire(0).await.unwrap();
        assert_eq!(store.blobs.get(&issued.blob).await.unwrap(), picture(0, 2000));
        fleet.record.pretend_later(1);
        fleet.retire(0).await.unwrap();
        assert_eq!(store.record.resolve(&store.tenant, &pinned).await.unwrap(), None);
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
        // The day after, it is the same session, in the partitions of the day it began on.
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
