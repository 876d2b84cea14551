//! Runs the contract suite on `PostgreSQL` and every bucket server.

use photic_store::{Tenant, contract};

use crate::servers::{place, places};

#[tokio::test(flavor = "multi_thread")]
async fn the_fleet_keeps_every_promise_of_the_local_store() {
    for place in places().await {
        let store = place.open().await.store(Tenant::new("contract"));
        contract::fresh(&store).await.unwrap();
        let before = contract::existing(&store).await.unwrap();
        // Another replica sees the same contents.
        let again = place.open().await.store(Tenant::new("contract"));
        assert_eq!(contract::existing(&again).await.unwrap(), before);
        assert!(before.turns.len() >= 5 && before.blobs > 10, "{before:?}");
        println!("every promise is kept on {}", place.server);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fleet_keeps_every_promise_about_work() {
    let Some(place) = place().await else { return };
    contract::work(&place.open().await.record).await.unwrap();
}
