//! Whatever a stranger writes in place of a key, a token, an address or a name: it is read or refused. Alone in its program: memory is
//! counted.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use onsale_access::context::Context;
use onsale_access::email::Email;
use onsale_access::house::{Access, Settings};
use onsale_access::keys::{self, NewKey};
use onsale_access::limits::{ForwardedHeader, Network, caller_address};
use onsale_access::passwords::{PasswordCost, PasswordPool};
use onsale_access::principal::KeyKind;
use onsale_access::role::Roles;
use onsale_access::scope::{Scope, Scopes};
use onsale_access::secrets::{Secret, SecretKind};
use onsale_access::sessions::{Device, SessionRules};
use onsale_access::tenants;
use onsale_access::vouchers::Vouchers;
use onsale_domain::{BuyerId, ListingId, ListingKind, Tenant};
use onsale_sql::Place;
use onsale_tables::damage::{Decoder, try_all};

const HOUSE: &[u8] = b"house";
const NOW: i64 = 1_763_000_000_000;

#[test]
fn whatever_stands_in_place_of_a_credential_is_read_or_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (key, session, voucher) = runtime.block_on(real_ones());
    let of = |name, samples: &[&[u8]], read| {
        let samples = samples.iter().map(|sample| sample.to_vec()).collect();
        Decoder { name, samples, read }
    };
    try_all(&[
        of("a key", &[key.as_bytes()], |it| is(it, keys::is_key)),
        of("a session", &[session.as_bytes()], |it| {
            is(it, |it| Secret::parse(SecretKind::Session, it).is_some())
        }),
        of(
            "an address of mail",
            &[b"ann+tickets@example.com", "zo\u{eb}@b\u{fc}cher.example".as_bytes()],
            |it| is(it, |it| Email::parse(it).is_ok()),
        ),
        of("a host", &[b"tickets.example.com"], |it| is(it, |it| tenants::host_name(it).is_ok())),
        of("scopes", &[b"read buy settle"], |it| is(it, |it| Scopes::parse(it).is_some())),
        of("roles", &[b"buyer admin"], |it| is(it, |it| Roles::parse(it).is_some())),
        of("a network", &[b"10.0.0.0/8", b"2001:db8::/32"], |it| is(it, |it| it.parse::<Network>().is_ok())),
        of("a buyer token", &[voucher.as_bytes()], |it| is(it, |it| Vouchers::new(HOUSE).read(it).is_some())),
        of("where a request comes from", &[b"203.0.113.7, 10.0.0.2"], is_forwarded),
    ]);
}

/// A key, a session and a buyer token, as a server gives them out.
async fn real_ones() -> (String, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings {
        place: Place::Sqlite(folder.path().join("access.sqlite")),
        cost: PasswordCost::FOR_TESTS,
        pool: PasswordPool::default(),
        sessions: SessionRules::default(),
    };
    let access = Access::open(&settings, HOUSE, Arc::new(|| NOW)).await.expect("opened");
    let new = NewKey {
        tenant: Tenant::DEFAULT,
        kind: KeyKind::Secret,
        is_test: true,
        name: "a shop".to_owned(),
        scopes: Scopes::of(&[Scope::Read, Scope::Buy]),
        expires_ms: None,
        by: "cli".to_owned(),
        giver: Scopes::of(&Scope::ALL),
    };
    let mut tx = access.sql.begin().await.expect("a transaction");
    let (record, key) = keys::create(&mut tx, &new, NOW).await.expect("made");
    tx.commit().await.expect("committed");
    let context =
        Context { tenant: Tenant::DEFAULT, address: "127.0.0.1", request_id: "1", now_ms: NOW, once: None };
    let guest = access.accounts.start_guest(&Device::default(), &context).await.expect("a guest");
    let ann = BuyerId::parse("ann").expect("a buyer");
    let event = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
    let (voucher, _) = access.vouchers.issue(&record, &ann, 60_000, Some(&[event]), NOW).expect("issued");
    (key.as_str().to_owned(), guest.token.text(), voucher)
}

/// What is no text never comes so far: it is refused where headers and paths are read.
fn is(bytes: &[u8], read: fn(&str) -> bool) -> bool {
    read(&String::from_utf8_lossy(bytes))
}

/// Whether the proxy's word was taken for somebody else's address.
fn is_forwarded(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let proxy = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    let trusted: [Network; 1] = ["10.0.0.0/8".parse().expect("a network")];
    caller_address(&trusted, proxy, ForwardedHeader::XForwardedFor, [&*text].into_iter()) != proxy
}
