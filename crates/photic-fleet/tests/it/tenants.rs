//! Every operation by every kind of tenant for every kind of name: foreign things are answered
//! exactly like unknown ones.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::{Duration, SystemTime};

use photic_fleet::{
    ApiKey, Audit, AuditAction, Derivatives as _, Entry, Fleet, KeyCache, KeyId, Keys as _, Limits,
    Subject,
};
use photic_store::contract::{Conversation, picture};
use photic_store::record::MadeBlob;
use photic_store::{
    BlobId, Blobs as _, Facts, Handle, Handles as _, Media as _, MediaRef, NewMedia, SessionId,
    Tenant,
};

use crate::servers::places;

/// Names of things that exist or not.
#[derive(Clone, Debug)]
struct Names {
    session: SessionId,
    handle: Handle,
    blob: BlobId,
    made: [u8; 16],
    key: KeyId,
    reference: MediaRef,
    /// Key of a conversation of this session.
    talk: Conversation,
}

impl Names {
    /// Creates things of a tenant, or names without things.
    async fn of(fleet: &Fleet, tenant: &Tenant, seed: u64) -> Self {
        let store = fleet.store(tenant.clone());
        let mut talk = Conversation::new(&format!("look {seed}"));
        talk.look(&picture(seed, 1500));
        let session = store.begin("named").await.unwrap();
        talk.send(&store, &session, 1).await.unwrap();
        let blob = BlobId::of(&picture(seed, 1500));
        let handle = store.name(blob.as_bytes()).await.unwrap();
        let made = [seed as u8; 16];
        let derivative = MadeBlob { blob, media_type: "image/png".into(), size: (1, 1) };
        fleet.record.keep_derivative(tenant, &made, &derivative).await.unwrap();
        let key = fleet.record.issue_key(tenant, "named", None).await.unwrap().id().clone();
        let minting = NewMedia {
            blob,
            facts: Facts::default(),
            memory: photic::MediaStub::of(&photic::media::Payload::encode(&picture(seed, 1500)))
                .unwrap(),
            session: None,
            lasting: Duration::from_hours(1),
        };
        let reference = fleet.record.create_media(tenant, &minting).await.unwrap();
        Self { session, handle, blob, made, key, reference, talk }
    }

    /// Creates unused names of the same day.
    async fn of_nothing(fleet: &Fleet, seed: u64) -> Self {
        let day = fleet.record.today().await.unwrap();
        let mut talk = Conversation::new(&format!("look {seed}"));
        talk.look(&picture(seed, 1500));
        let letters: String =
            ApiKey::random().unwrap().reveal().chars().skip(20).take(16).collect();
        Self {
            session: SessionId::dated(day as u16).unwrap(),
            handle: format!("img_{letters}").parse().unwrap(),
            blob: BlobId::of(&picture(seed, 1500)),
            made: [seed as u8; 16],
            key: ApiKey::random().unwrap().id().clone(),
            reference: MediaRef::random().unwrap(),
            talk,
        }
    }

    /// Removes the names of the question from an answer.
    fn answer(&self, operation: &'static str, answer: &impl Debug) -> (&'static str, String) {
        let mut text = format!("{answer:?}");
        for name in [
            self.session.as_str(),
            self.handle.as_str(),
            &self.blob.to_string(),
            self.key.as_str(),
            self.reference.as_str(),
        ] {
            text = text.replace(name, "NAME");
        }
        (operation, text)
    }
}

type Answers = BTreeMap<&'static str, String>;

/// Reading operations.
async fn look(fleet: &Fleet, tenant: &Tenant, names: &Names) -> Answers {
    let (store, record) = (fleet.store(tenant.clone()), &fleet.record);
    let body = names.talk.body();
    let transcript = photic::lift(photic::Wire::OpenAiChat, &body).0;
    [
        names.answer("session", &store.session(&names.session).await.map(|one| one.turns)),
        names.answer("open", &store.open_session(&names.session).await.map(|one| one.0.turns)),
        names.answer("turn", &store.turn(&names.session, 1).await.map(|one| one.number)),
        names.answer("no such turn", &store.turn(&names.session, 7).await.map(|one| one.number)),
        names.answer("body", &store.body(&names.session, 1).await),
        names.answer("lower", &store.lower(&names.session, 1).await.map(|view| view.body)),
        names.answer("look", &store.look(&names.session, 1).await.map(|look| look.body)),
        names.answer("images", &store.images(&names.session).await.map(|images| images.len())),
        names.answer("choices", &store.choices(&names.session).await),
        names.answer("continued", &store.session_of(&transcript).await),
        names.answer(
            "listed session",
            &store.sessions().await.map(|all| all.iter().any(|one| one.id == names.session)),
        ),
        names.answer("resolve", &record.resolve(tenant, &names.handle).await),
        names.answer(
            "media",
            &record
                .media(tenant, std::slice::from_ref(&names.reference))
                .await
                .map(|all| all.len()),
        ),
        names.answer("get", &store.blobs.get(&names.blob).await),
        names.answer("size", &store.blobs.size(&names.blob).await),
        names.answer("has", &store.blobs.has(&names.blob).await),
        names.answer(
            "listed blob",
            &store.blobs.list(None).await.map(|all| all.iter().any(|one| one.id == names.blob)),
        ),
        names.answer("places", &store.blobs.places(&names.blob).await.map(|all| all.len())),
        names.answer("derivative", &record.derivative(tenant, &names.made).await),
        names.answer(
            "listed key",
            &record
                .keys(tenant)
                .await
                .map(|all| all.iter().any(|one| one.id == names.key.as_str())),
        ),
    ]
    .into_iter()
    .collect()
}

/// Changing operations.
async fn change(fleet: &Fleet, tenant: &Tenant, names: &Names) -> Answers {
    let (store, record) = (fleet.store(tenant.clone()), &fleet.record);
    let digest = names.blob.as_bytes();
    let future = SystemTime::now() + Duration::from_hours(1);
    let drop = Some(photic::Choice::Drop);
    let again = store.blobs.touch(&[names.blob]).await;
    let removed = store.blobs.remove(&names.blob, future).await;
    let appended = names.talk.send(&store, &names.session, 2).await;
    [
        names.answer("again", &again),
        names.answer("remove", &removed),
        names.answer("append", &appended.map(|done| done.0).map_err(|error| error.to_string())),
        names.answer(
            "mint",
            &record
                .create_media(
                    tenant,
                    &NewMedia {
                        blob: names.blob,
                        facts: Facts::default(),
                        memory: photic::MediaStub::of(&photic::media::Payload::encode(&picture(
                            1, 1500,
                        )))
                        .unwrap(),
                        session: Some(names.session.clone()),
                        lasting: Duration::from_hours(1),
                    },
                )
                .await
                .map(|_| "minted"),
        ),
        names.answer("choose", &store.choose(&names.session, digest, drop).await),
        names.answer("choose back", &store.choose(&names.session, digest, None).await),
        names.answer("pin", &record.pin(tenant, &names.handle).await),
        names.answer("let go", &record.unpin(tenant, &names.handle).await),
        names.answer("delete_media", &record.delete_media(tenant, &names.reference).await),
        names.answer("forget", &store.forget(&names.session).await),
        names.answer(
            "rotate",
            &record
                .rotate_key(tenant, &names.key, Duration::from_hours(1))
                .await
                .map(|key| key.is_some()),
        ),
        names.answer("revoke", &record.revoke_key(tenant, &names.key).await),
    ]
    .into_iter()
    .collect()
}

/// Operations about the tenant itself.
async fn own_books(fleet: &Fleet, tenant: &Tenant) -> String {
    let audit = Audit::new(fleet.record.clone());
    format!(
        "{:?} {:?} {:?}",
        audit.export(tenant, 0).await,
        audit.verify(tenant).await,
        fleet.record.limits(tenant).await,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_anothers_is_answered_as_what_never_was() {
    for place in places().await {
        let fleet = place.open().await;
        let (right, other) = (Tenant::new("right"), Tenant::new("other"));
        let unknown = Tenant::new("never seen");
        let own = Names::of(&fleet, &right, 1).await;
        // The other tenant is an ordinary one.
        let theirs = Names::of(&fleet, &other, 2).await;
        let entry = Entry {
            key: None,
            what: AuditAction::Mint,
            subject: Subject::from(&own.handle),
            decision: "minted",
            bytes_in: 1,
            bytes_out: 1,
        };
        Audit::new(fleet.record.clone()).write(&right, vec![entry]).await.unwrap();
        let limits = Limits { stored_bytes: Some(9), ..Limits::default() };
        fleet.record.set_limits(&right, &limits).await.unwrap();
        assert_eq!(own_books(&fleet, &other).await, own_books(&fleet, &unknown).await);
        assert_ne!(own_books(&fleet, &right).await, own_books(&fleet, &unknown).await);

        // The owner sees everything.
        let before = look(&fleet, &right, &own).await;
        let nothing = Names::of_nothing(&fleet, 99).await;
        for (operation, answer) in look(&fleet, &right, &nothing).await {
            assert_ne!(answer, before[operation], "`{operation}` cannot tell");
        }
        for asker in [&other, &unknown] {
            let nothing = Names::of_nothing(&fleet, 98).await;
            let random = look(&fleet, asker, &nothing).await;
            assert_eq!(look(&fleet, asker, &own).await, random, "{asker:?}");
            // Foreign things cannot be changed.
            let random = change(&fleet, asker, &nothing).await;
            assert_eq!(change(&fleet, asker, &own).await, random, "{asker:?}");
            for operation in ["append", "choose"] {
                assert!(random[operation].contains("NAME"), "{random:?}");
            }
        }
        assert_eq!(look(&fleet, &right, &own).await, before, "others changed nothing");
        assert!(look(&fleet, &other, &theirs).await["body"].starts_with("Ok"));

        // The owner can do all of it.
        let nothing = change(&fleet, &right, &Names::of_nothing(&fleet, 97).await).await;
        for (operation, answer) in change(&fleet, &right, &own).await {
            assert_ne!(answer, nothing[operation], "`{operation}` cannot tell");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_key_that_does_not_open_is_answered_alike() {
    for place in places().await.into_iter().take(1) {
        let record = place.open().await.record;
        let tenant = Tenant::new("right");
        let good = record.issue_key(&tenant, "good", None).await.unwrap();
        let revoked = record.issue_key(&tenant, "revoked", None).await.unwrap();
        record.revoke_key(&tenant, revoked.id()).await.unwrap();
        let expired = record.issue_key(&tenant, "expired", Some(Duration::ZERO)).await.unwrap();
        let rotated = record.issue_key(&tenant, "rotated", None).await.unwrap();
        record.rotate_key(&tenant, rotated.id(), Duration::ZERO).await.unwrap().unwrap();
        let random = ApiKey::random().unwrap().reveal();
        let forged = format!("pk_{}{}", good.id(), &random[15..]);
        let gate = KeyCache::new(record);
        assert_eq!(gate.tenant(&good.reveal()).await.unwrap(), Some(tenant));
        let shut = format!("{:?}", gate.tenant(&random).await);
        let texts = [revoked.reveal(), expired.reveal(), rotated.reveal(), forged];
        for text in texts.iter().map(String::as_str).chain(["", "pk_", "sk-something", "pk_'--"]) {
            assert_eq!(format!("{:?}", gate.tenant(text).await), shut);
        }
    }
}
