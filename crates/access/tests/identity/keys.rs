//! The life of a key.

use onsale_access::directory::Denied;
use onsale_access::keys::{self, OVERLAP_MS_MAX, Rotation};
use onsale_access::principal::{KeyKind, Who};
use onsale_access::refusal::Refusal;
use onsale_access::scope::{Scope, Scopes};
use onsale_access::tenants;
use onsale_domain::Tenant;

use crate::home::{Home, MINUTE, NOW, Server, commit, make_key, new_key, on_both};

on_both! {
    a_key_opens_what_it_is_for_and_is_stored_nowhere,
    a_key_ends_at_its_instant,
    a_rotated_key_works_until_the_overlap_is_over_and_its_family_goes_on,
    a_revoked_key_opens_nothing,
    another_tenants_key_cannot_be_seen_or_ended,
    a_tenant_has_a_bounded_number_of_keys,
    when_a_key_was_used_last_is_written_back,
}

fn rotation<'a>(id: &'a str, overlap_ms: i64) -> Rotation<'a> {
    Rotation { tenant: Tenant::DEFAULT, id, overlap_ms, by: "usr_7", giver: Scopes::of(&Scope::ALL) }
}

async fn a_key_opens_what_it_is_for_and_is_stored_nowhere(home: Home) {
    let server = Server::start(home.open().await).await;
    for kind in [KeyKind::Secret, KeyKind::Restricted, KeyKind::Publishable] {
        let mut new = new_key(kind);
        new.is_test = kind == KeyKind::Restricted;
        let (key, text) = make_key(&server.sql, &new).await;
        assert!(server.cached(text.as_str()).is_none(), "nobody has asked yet");
        let principal = server.resolve(text.as_str()).await.expect("it opens");
        assert!(matches!(&principal.who, Who::Key(holder) if holder.kind == kind && holder.key == key.id));
        assert_eq!((principal.scopes, principal.is_test), (new.scopes, new.is_test));
        assert_eq!(principal.family, key.family);
        assert!(server.cached(text.as_str()).is_some());

        let listed = keys::list(&server.sql, Tenant::DEFAULT, "", 100).await.expect("a list");
        assert!(listed.contains(&key));
        let secret = &text.as_str()[15..37];
        assert!(!format!("{listed:?} {:?} {principal:?}", server.directory).contains(secret));
        assert!(key.shown.ends_with(&text.as_str()[37..41]), "{}", key.shown);
        // The right form, and another secret.
        let (_, strange) = make_key(&Home::sqlite().open().await, &new).await;
        assert_eq!(server.resolve(strange.as_str()).await.err(), Some(Denied::Unknown));
        let mut typo = text.as_str().to_owned();
        // No key has this letter, as it looks like another.
        typo.replace_range(38..39, "u");
        assert_eq!(server.resolve(&typo).await.err(), Some(Denied::Malformed));
    }
    let refused = commit(&server.sql, async |tx| {
        let new = keys::NewKey { scopes: Scopes::of(&[Scope::Operate]), ..new_key(KeyKind::Secret) };
        keys::create(tx, &new, NOW).await
    });
    assert_eq!(refused.await.err(), Some(Refusal::ScopesInvalid.into()));
}

async fn a_key_ends_at_its_instant(home: Home) {
    let server = Server::start(home.open().await).await;
    let new = keys::NewKey { expires_ms: Some(NOW + 500), ..new_key(KeyKind::Secret) };
    let (_, text) = make_key(&server.sql, &new).await;
    assert!(server.remembers(text.as_str()).await);
    server.hand.advance(499);
    assert!(server.cached(text.as_str()).is_some());
    server.hand.advance(1);
    assert!(server.cached(text.as_str()).is_none());
    assert_eq!(server.resolve(text.as_str()).await.err(), Some(Denied::Expired));
    let past = keys::NewKey { expires_ms: Some(NOW), ..new };
    let refused = commit(&server.sql, async |tx| keys::create(tx, &past, NOW).await).await;
    assert_eq!(refused.err(), Some(Refusal::ExpiryInvalid.into()));
}

async fn a_rotated_key_works_until_the_overlap_is_over_and_its_family_goes_on(home: Home) {
    let server = Server::start(home.open().await).await;
    let sql = &server.sql;
    let new = keys::NewKey { expires_ms: Some(NOW + 90 * MINUTE), ..new_key(KeyKind::Restricted) };
    let (old, old_text) = make_key(sql, &new).await;
    assert!(server.remembers(old_text.as_str()).await);
    let rotate =
        async |how: Rotation<'_>| commit(sql, async |tx| keys::rotate(tx, &how, NOW + MINUTE).await).await;
    assert_eq!(
        rotate(rotation(&old.id, OVERLAP_MS_MAX + 1)).await.err(),
        Some(Refusal::OverlapInvalid.into())
    );
    assert_eq!(rotate(rotation("key_0", 0)).await.err(), Some(Refusal::KeyUnknown.into()));
    // Who may not settle is not given a key that may.
    let poor = Rotation { giver: Scopes::of(&[Scope::Access]), ..rotation(&old.id, 0) };
    assert_eq!(rotate(poor).await.err(), Some(Refusal::ScopeNotYours.into()));

    let (key, text) = rotate(rotation(&old.id, 10 * MINUTE)).await.expect("a new key");
    assert_eq!((&key.family, key.scopes, key.kind), (&old.family, old.scopes, old.kind));
    assert_eq!((key.expires_ms, &*key.by), (Some(NOW + 91 * MINUTE), "usr_7"));
    assert_ne!(key.id, old.id);
    assert_eq!(rotate(rotation(&old.id, MINUTE)).await.err(), Some(Refusal::KeyRotated.into()));
    server.directory.refresh().await.expect("read");

    let families = async || {
        let one = server.resolve(old_text.as_str()).await.map(|one| one.family.clone());
        (one, server.resolve(text.as_str()).await.map(|one| one.family.clone()))
    };
    assert_eq!(families().await, (Ok(old.family.clone()), Ok(old.family.clone())));
    server.hand.advance(11 * MINUTE - 1);
    assert!(families().await.0.is_ok());
    server.hand.advance(1);
    assert_eq!(families().await, (Err(Denied::Expired), Ok(old.family.clone())));
    let over = commit(sql, async |tx| keys::rotate(tx, &rotation(&old.id, 0), NOW + 20 * MINUTE).await).await;
    assert_eq!(over.err(), Some(Refusal::KeyOver.into()));
}

async fn a_revoked_key_opens_nothing(home: Home) {
    let server = Server::start(home.open().await).await;
    let (key, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    assert!(server.remembers(text.as_str()).await);
    let revoke =
        async || commit(&server.sql, async |tx| keys::revoke(tx, Tenant::DEFAULT, &key.id, NOW).await).await;
    revoke().await.expect("revoked");
    server.directory.refresh().await.expect("read");
    assert!(server.cached(text.as_str()).is_none());
    assert_eq!(server.resolve(text.as_str()).await.err(), Some(Denied::Revoked));
    revoke().await.expect("twice is a yes");
    let listed = keys::list(&server.sql, Tenant::DEFAULT, "", 9).await.expect("a list");
    assert_eq!(listed[0].revoked_ms, Some(NOW));
}

async fn another_tenants_key_cannot_be_seen_or_ended(home: Home) {
    let server = Server::start(home.open().await).await;
    let sql = &server.sql;
    let opera = commit(sql, async |tx| tenants::create(tx, "Opera", NOW).await).await.expect("a tenant");
    let (key, text) = make_key(sql, &new_key(KeyKind::Secret)).await;
    let revoked = commit(sql, async |tx| keys::revoke(tx, opera, &key.id, NOW).await).await;
    assert_eq!(revoked, Err(Refusal::KeyUnknown.into()));
    let theirs = Rotation { tenant: opera, ..rotation(&key.id, 0) };
    let rotated = commit(sql, async |tx| keys::rotate(tx, &theirs, NOW).await).await;
    assert_eq!(rotated.err(), Some(Refusal::KeyUnknown.into()));
    assert_eq!(keys::list(sql, opera, "", 9).await, Ok(Vec::new()));
    assert!(server.remembers(text.as_str()).await);
    let strange = keys::NewKey { tenant: Tenant::new(77).expect("a number"), ..new_key(KeyKind::Secret) };
    let made = commit(sql, async |tx| keys::create(tx, &strange, NOW).await).await;
    assert_eq!(made.err(), Some(Refusal::TenantUnknown.into()));
}

async fn a_tenant_has_a_bounded_number_of_keys(home: Home) {
    let sql = home.open().await;
    let (first, _) = make_key(&sql, &new_key(KeyKind::Secret)).await;
    home.meddle(
        "with recursive number (n) as (select 1 union all select n + 1 from number where n < 999)
         insert into api_key (key_id, hash, family, tenant_number, kind, is_test, name, shown, scopes, created, created_by)
         select 'key_' || n, cast(cast(n as text) as blob), '', 0, 'secret', 0, '', '', 'read', 0, '' from number"
            .replace("blob", if matches!(home, Home::Folder(_)) { "blob" } else { "bytea" })
            .as_str(),
    );
    let another = async || {
        commit(&sql, async |tx| keys::create(tx, &new_key(KeyKind::Secret), NOW).await).await.map(drop)
    };
    assert_eq!(another().await, Err(Refusal::TooManyKeys.into()));
    commit(&sql, async |tx| keys::revoke(tx, Tenant::DEFAULT, &first.id, NOW).await).await.expect("revoked");
    another().await.expect("one that is over does not count");
}

async fn when_a_key_was_used_last_is_written_back(home: Home) {
    let server = Server::start(home.open().await).await;
    let (key, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    let last_used = async || {
        server.directory.flush_uses().await.expect("written");
        keys::list(&server.sql, Tenant::DEFAULT, "", 9).await.expect("a list")[0].last_used_ms
    };
    assert_eq!(last_used().await, None);
    assert!(server.remembers(text.as_str()).await);
    assert_eq!(last_used().await, Some(NOW));
    server.hand.advance(700);
    assert!(server.cached(text.as_str()).is_some());
    assert_eq!(last_used().await, Some(NOW + 700));
    // A server whose clock is behind takes nothing back.
    home.meddle(&format!("update api_key set last_used = {} where key_id = '{}'", NOW + 9_000, key.id));
    server.hand.advance(100);
    assert!(server.cached(text.as_str()).is_some());
    assert_eq!(last_used().await, Some(NOW + 9_000));
}
