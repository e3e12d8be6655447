//! Whatever the keys of a listing hold, its state is read or refused: real states of every kind, with something in them changed.

use onsale_domain::{ListingId, ListingKind, Outcome, Tenant};
use onsale_engine::Engine;
use onsale_engine_redis::layout::Layout;
use onsale_engine_redis::live::Options;
use onsale_engine_redis::scripts::Name;
use onsale_engine_redis::{Keys, state};
use onsale_tables::damage::{Damage, seed};
use redis::Value;

use super::creations::creation;
use super::history::hold_under;
use super::house::{open, submit};
use super::support::{Brand, Server};

const ROUNDS_DAILY: usize = 1_000;
const ROUNDS: usize = 10_000;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_the_keys_of_a_listing_hold_its_state_is_read_or_refused() {
    let server = Server::start(Brand::Redis);
    let (seed, is_given) = seed();
    let rounds = if is_given { ROUNDS } else { ROUNDS_DAILY };
    for compact_from in [1, usize::MAX] {
        let engine = open(&server.url(), Options { compact_from, ..Options::default() }).await;
        let mut damage = Damage::new(seed);
        for kind in ListingKind::ALL {
            let listing =
                ListingId { tenant: Tenant::DEFAULT, kind, number: 1 + u64::from(compact_from == 1) };
            let made = submit(&engine, listing, creation(listing, engine.now())).await.expect("an answer");
            assert_eq!(made.outcome, Outcome::Done, "{listing}");
            if kind == ListingKind::Event {
                hold_under(&engine, listing, 1).await;
                hold_under(&engine, listing, 2).await;
            }
            let keys = Keys::new(&engine.link().config().prefix, &listing);
            let asked =
                engine.deployment().call(|all| all.get(Name::READ_STATE, Layout::Hash), keys.all(), &[]);
            let real = asked.await.expect("a state");
            assert!(is_read(real.clone(), listing), "{listing}");
            let mut texts = Vec::new();
            each_text(&mut real.clone(), &mut |text| texts.push(text.clone()));
            let mut refused = 0;
            for round in 0..rounds {
                let mut value = real.clone();
                let mut place = damage.below(texts.len());
                let bad = damage.strange(&[texts[place].clone()]);
                each_text(&mut value, &mut |text| {
                    if place == 0 {
                        text.clone_from(&bad);
                    }
                    place = place.wrapping_sub(1);
                });
                let shown = bad.escape_ascii().to_string();
                let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| is_read(value, listing)));
                refused +=
                    usize::from(!told.unwrap_or_else(|_| panic!("{listing} in round {round}: {shown}")));
            }
            assert!(refused > rounds / 20, "{listing}: {refused} were refused, so this proves little");
        }
    }
}

/// The state as a server takes it in.
fn is_read(value: Value, listing: ListingId) -> bool {
    state::read(value).is_ok_and(|kept| kept.is_some_and(|kept| kept.picture(listing).is_ok()))
}

fn each_text(value: &mut Value, see: &mut dyn FnMut(&mut Vec<u8>)) {
    if let Value::Array(all) = value {
        all.iter_mut().for_each(|one| each_text(one, see));
    } else if let Value::BulkString(text) = value {
        see(text);
    }
}
