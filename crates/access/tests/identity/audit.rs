//! The audit trail.

use onsale_access::audit::{self, Entry};
use onsale_access::refusal::AccessError;
use onsale_domain::Tenant;

use crate::home::{Home, NOW, commit, on_both};

on_both! {
    what_happened_is_listed_by_tenant_and_the_newest_first,
    an_entry_goes_with_what_it_tells,
    what_is_too_old_or_too_much_is_forgotten,
    an_entry_is_written_whatever_a_stranger_has_sent,
}

fn entry(tenant: Tenant, number: i64) -> Entry {
    Entry {
        at_ms: NOW + number,
        tenant,
        who: "key_1".to_owned(),
        action: format!("action_{number}"),
        subject: "usr_2".to_owned(),
        address: "192.0.2.1".to_owned(),
        request: "req_3".to_owned(),
    }
}

async fn what_happened_is_listed_by_tenant_and_the_newest_first(home: Home) {
    let sql = home.open().await;
    let other = Tenant::new(1).expect("a number");
    for number in 0..7 {
        let tenant = if number % 2 == 0 { Tenant::DEFAULT } else { other };
        audit::note(&sql, &entry(tenant, number)).await.expect("written");
    }
    let first = audit::list(&sql, Tenant::DEFAULT, None, 3).await.expect("a page");
    let entries: Vec<_> = first.iter().map(|(_, entry)| entry.clone()).collect();
    assert_eq!(entries, [6, 4, 2].map(|number| entry(Tenant::DEFAULT, number)));
    let second = audit::list(&sql, Tenant::DEFAULT, Some(first[2].0), 3).await.expect("a page");
    assert_eq!(second.len(), 1);
    assert_eq!(second[0].1, entry(Tenant::DEFAULT, 0));
    assert_eq!(audit::list(&sql, other, None, 9).await.expect("a page").len(), 3);
}

async fn an_entry_goes_with_what_it_tells(home: Home) {
    let sql = home.open().await;
    let mut tx = sql.begin().await.expect("a transaction");
    audit::append(&mut tx, &entry(Tenant::DEFAULT, 1)).await.expect("written");
    drop(tx);
    assert_eq!(audit::list(&sql, Tenant::DEFAULT, None, 9).await, Ok(Vec::new()));
}

async fn what_is_too_old_or_too_much_is_forgotten(home: Home) {
    let sql = home.open().await;
    for number in 0..10 {
        audit::note(&sql, &entry(Tenant::DEFAULT, number)).await.expect("written");
    }
    let left = async |oldest_ms, most| -> Vec<i64> {
        let cleaned =
            commit(&sql, async |tx| audit::clean_to(tx, oldest_ms, most).await.map_err(AccessError::from));
        cleaned.await.expect("cleaned");
        let left = audit::list(&sql, Tenant::DEFAULT, None, 99).await.expect("a page");
        left.into_iter().map(|(_, entry)| entry.at_ms - NOW).collect()
    };
    assert_eq!(left(NOW, 10).await.len(), 10);
    assert_eq!(left(NOW + 3, 10).await, [9, 8, 7, 6, 5, 4, 3]);
    assert_eq!(left(NOW, 2).await, [9, 8]);
}

async fn an_entry_is_written_whatever_a_stranger_has_sent(home: Home) {
    let sql = home.open().await;
    let strange =
        Entry { address: "a\0b\n".to_owned() + &"\u{1f600}".repeat(500), ..entry(Tenant::DEFAULT, 1) };
    audit::note(&sql, &strange).await.expect("written");
    let page = audit::list(&sql, Tenant::DEFAULT, None, 1).await.expect("a page");
    assert_eq!(page[0].1.address, "ab".to_owned() + &"\u{1f600}".repeat(198));
}
