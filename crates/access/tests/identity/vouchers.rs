//! Buyer tokens, from their making to their end.

use onsale_access::directory::Denied;
use onsale_access::keys::{self, Rotation};
use onsale_access::principal::{KeyKind, Who};
use onsale_access::refusal::Refusal;
use onsale_access::scope::{Scope, Scopes};
use onsale_access::vouchers::{LIFETIME_MS_MAX, Vouchers, beside_key};
use onsale_domain::{BuyerId, ListingId, ListingKind, Tenant};

use crate::home::{HOUSE_KEY, Home, MINUTE, NOW, Server, commit, make_key, new_key, on_both};

on_both! {
    a_buyer_token_stands_for_one_buyer_until_its_time_is_over,
    a_buyer_token_ends_with_its_key_but_not_with_its_rotation,
    beside_a_publishable_key_the_buyer_counts,
}

fn buyer(name: &str) -> BuyerId {
    BuyerId::parse(name).expect("a buyer")
}

fn listing(tenant: Tenant, number: u64) -> ListingId {
    ListingId { tenant, kind: ListingKind::ALL[0], number }
}

async fn a_buyer_token_stands_for_one_buyer_until_its_time_is_over(home: Home) {
    let server = Server::start(home.open().await).await;
    let (key, _) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    let vouchers = Vouchers::new(HOUSE_KEY);
    let named = [listing(Tenant::DEFAULT, 7)];
    let (token, _) = vouchers.issue(&key, &buyer("ann"), 10 * MINUTE, Some(&named), NOW).expect("a token");
    assert!(server.remembers(&token).await);
    let principal = server.cached(&token).expect("it is remembered");
    assert!(matches!(&principal.who, Who::Vouched(one) if one.buyer == buyer("ann") && one.key == key.id));
    assert_eq!(principal.scopes, Scopes::of(&[Scope::Read, Scope::Buy]));
    assert!(principal.sees(&named[0]) && !principal.sees(&listing(Tenant::DEFAULT, 8)));
    let (other, _) = vouchers.issue(&key, &buyer("bob"), 10 * MINUTE, None, NOW).expect("a token");
    let other = server.resolve(&other).await.expect("it opens");
    assert!(other.sees(&listing(Tenant::DEFAULT, 8)) && other.family != principal.family);

    let (foreign, _) =
        Vouchers::new(b"another house").issue(&key, &buyer("ann"), MINUTE, None, NOW).expect("a token");
    assert_eq!(server.resolve(&foreign).await.err(), Some(Denied::Unknown));
    server.hand.advance(10 * MINUTE - 1);
    assert!(server.resolve(&token).await.is_ok());
    server.hand.advance(1);
    assert!(server.cached(&token).is_none());
    assert_eq!(server.resolve(&token).await.err(), Some(Denied::Expired));

    let issue = |buyer: &BuyerId, lifetime: i64, listings: &[ListingId]| {
        vouchers.issue(&key, buyer, lifetime, Some(listings), NOW).err()
    };
    let many: Vec<_> = (0..21).map(|number| listing(Tenant::DEFAULT, number)).collect();
    let strange = [listing(Tenant::new(1).expect("a number"), 7)];
    assert_eq!(issue(&buyer("usr_1"), MINUTE, &named), Some(Refusal::BuyerInvalid));
    assert_eq!(issue(&buyer("ann"), LIFETIME_MS_MAX + 1, &named), Some(Refusal::LifetimeInvalid));
    assert_eq!(issue(&buyer("ann"), 0, &named), Some(Refusal::LifetimeInvalid));
    for listings in [&many[..], &strange, &[]] {
        assert_eq!(issue(&buyer("ann"), MINUTE, listings), Some(Refusal::ListingsInvalid));
    }
    assert_eq!(issue(&buyer("ann"), LIFETIME_MS_MAX, &many[..20]), None);
}

async fn a_buyer_token_ends_with_its_key_but_not_with_its_rotation(home: Home) {
    let server = Server::start(home.open().await).await;
    let (key, _) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    let vouchers = Vouchers::new(HOUSE_KEY);
    let (token, _) = vouchers.issue(&key, &buyer("ann"), LIFETIME_MS_MAX, None, NOW).expect("a token");
    let (fresh, _) = vouchers.issue(&key, &buyer("bob"), LIFETIME_MS_MAX, None, NOW).expect("a token");
    assert!(server.remembers(&token).await);
    let giver = Scopes::of(&Scope::ALL);
    let how = Rotation { tenant: Tenant::DEFAULT, id: &key.id, overlap_ms: 0, by: "cli", giver };
    commit(&server.sql, async |tx| keys::rotate(tx, &how, NOW).await).await.expect("rotated");
    server.directory.refresh().await.expect("read");
    assert!(server.remembers(&token).await, "its holder vouches still");

    commit(&server.sql, async |tx| keys::revoke(tx, Tenant::DEFAULT, &key.id, NOW).await)
        .await
        .expect("revoked");
    server.directory.refresh().await.expect("read");
    for token in [&token, &fresh] {
        assert!(server.cached(token).is_none());
        assert_eq!(server.resolve(token).await.err(), Some(Denied::Revoked));
    }
}

async fn beside_a_publishable_key_the_buyer_counts(home: Home) {
    let server = Server::start(home.open().await).await;
    let (secret, secret_text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    let (_, public) = make_key(&server.sql, &new_key(KeyKind::Publishable)).await;
    let read_only = keys::NewKey { scopes: Scopes::of(&[Scope::Read]), ..new_key(KeyKind::Publishable) };
    let (_, read_only) = make_key(&server.sql, &read_only).await;
    let (token, _) =
        Vouchers::new(HOUSE_KEY).issue(&secret, &buyer("ann"), MINUTE, None, NOW).expect("a token");
    let [secret, public, read_only, voucher] =
        [secret_text.as_str(), public.as_str(), read_only.as_str(), &token];
    let voucher = server.resolve(voucher).await.expect("it opens");
    let beside = async |key| {
        let key = server.resolve(key).await.expect("it opens");
        beside_key(&key, &voucher).and_then(|both| both.own_buyer().cloned())
    };
    assert_eq!(beside(public).await, Some(buyer("ann")));
    assert_eq!(beside(read_only).await, None);
    assert_eq!(beside(secret).await, None, "a secret key names its buyer itself");
    assert_eq!(beside(&token).await, None);
}
