//! Tenants and their hosts.

use std::collections::HashSet;

use onsale_access::directory::Denied;
use onsale_access::principal::{KeyKind, Who};
use onsale_access::refusal::Refusal;
use onsale_access::tenants;
use onsale_domain::Tenant;

use crate::home::{Home, NOW, Server, commit, eventually, make_key, new_key, on_both};

on_both! {
    the_default_tenant_is_there_and_others_follow_by_number,
    tenants_that_are_made_at_once_have_numbers_of_their_own,
    a_host_leads_to_its_tenant_and_an_unknown_one_to_the_default,
    nobody_of_a_disabled_tenant_is_let_in,
}

async fn the_default_tenant_is_there_and_others_follow_by_number(home: Home) {
    let sql = home.open().await;
    let first = commit(&sql, async |tx| tenants::create(tx, "Opera", NOW).await).await.expect("a tenant");
    let second = commit(&sql, async |tx| tenants::create(tx, "Cinema", NOW).await).await.expect("a tenant");
    assert_eq!((first.number(), second.number()), (1, 2));
    let taken = commit(&sql, async |tx| tenants::create(tx, "Opera", NOW).await).await;
    assert_eq!(taken, Err(Refusal::TenantNameTaken.into()));
    let renamed = commit(&sql, async |tx| tenants::rename(tx, second, "Opera").await).await;
    assert_eq!(renamed, Err(Refusal::TenantNameTaken.into()));
    commit(&sql, async |tx| tenants::rename(tx, second, "Theatre").await).await.expect("renamed");
    let strange = Tenant::new(77).expect("a number");
    let unknown = commit(&sql, async |tx| tenants::rename(tx, strange, "X").await).await;
    assert_eq!(unknown, Err(Refusal::TenantUnknown.into()));
    // What was refused took no number.
    let third = commit(&sql, async |tx| tenants::create(tx, "Circus", NOW).await).await.expect("a tenant");
    assert_eq!(third.number(), 3);

    let names = async |after, limit| -> Vec<(u32, String)> {
        let page = tenants::list(&sql, after, limit).await.expect("a list");
        page.into_iter().map(|one| (one.tenant.number(), one.name)).collect()
    };
    let expected = |all: &[(u32, &str)]| -> Vec<(u32, String)> {
        all.iter().map(|(number, name)| (*number, (*name).to_owned())).collect()
    };
    assert_eq!(names(None, 2).await, expected(&[(0, "default"), (1, "Opera")]));
    assert_eq!(names(Some(first), 10).await, expected(&[(2, "Theatre"), (3, "Circus")]));
    let default = commit(&sql, async |tx| tenants::set_disabled(tx, Tenant::DEFAULT, Some(NOW), NOW).await);
    assert_eq!(default.await, Err(Refusal::TenantIsDefault.into()));
}

async fn tenants_that_are_made_at_once_have_numbers_of_their_own(home: Home) {
    let sql = home.open().await;
    let tasks: Vec<_> = (0..12)
        .map(|number| {
            let sql = sql.clone();
            tokio::spawn(async move {
                commit(&sql, async |tx| tenants::create(tx, &format!("tenant {number}"), NOW).await).await
            })
        })
        .collect();
    let mut numbers = HashSet::new();
    for task in tasks {
        numbers.insert(task.await.expect("no panic").expect("a tenant").number());
    }
    assert_eq!(numbers, (1..13).collect());
}

async fn a_host_leads_to_its_tenant_and_an_unknown_one_to_the_default(home: Home) {
    let server = Server::start(home.open().await).await;
    let opera =
        commit(&server.sql, async |tx| tenants::create(tx, "Opera", NOW).await).await.expect("a tenant");
    let at = async |host| {
        let nobody = server.directory.resolve("", host, NOW).await.expect("a tenant");
        assert!(matches!(nobody.who, Who::Nobody));
        nobody.tenant
    };
    assert_eq!(at(Some("opera.example")).await, Tenant::DEFAULT);
    commit(&server.sql, async |tx| tenants::put_host(tx, "Opera.example", opera, NOW).await)
        .await
        .expect("given");
    server.directory.refresh().await.expect("read");
    assert_eq!(at(Some("OPERA.example:443")).await, opera);
    let cached = server.directory.cached_nobody(Some("opera.example."), NOW);
    assert_eq!(cached.map(|nobody| nobody.tenant), Some(opera));
    for other in [None, Some("other.example"), Some("not a host")] {
        assert_eq!(at(other).await, Tenant::DEFAULT);
    }
    assert_eq!(tenants::list_hosts(&server.sql, "", 9).await, Ok(vec![("opera.example".to_owned(), opera)]));

    let gone = async |host| commit(&server.sql, async |tx| tenants::remove_host(tx, host, NOW).await).await;
    assert_eq!(gone("other.example").await, Err(Refusal::HostUnknown.into()));
    gone("opera.example").await.expect("taken away");
    server.directory.refresh().await.expect("read");
    assert_eq!(at(Some("opera.example")).await, Tenant::DEFAULT);
    let strange = Tenant::new(77).expect("a number");
    let unknown =
        commit(&server.sql, async |tx| tenants::put_host(tx, "x.example", strange, NOW).await).await;
    assert_eq!(unknown, Err(Refusal::TenantUnknown.into()));
}

async fn nobody_of_a_disabled_tenant_is_let_in(home: Home) {
    let server = Server::start(home.open().await).await;
    let sql = &server.sql;
    let opera = commit(sql, async |tx| tenants::create(tx, "Opera", NOW).await).await.expect("a tenant");
    commit(sql, async |tx| tenants::put_host(tx, "opera.example", opera, NOW).await).await.expect("given");
    let mut new = new_key(KeyKind::Secret);
    let (_, other) = make_key(sql, &new).await;
    new.tenant = opera;
    let (_, key) = make_key(sql, &new).await;
    let key = key.as_str();
    assert!(server.remembers(key).await && server.remembers(other.as_str()).await);
    assert!(server.directory.resolve("", Some("opera.example"), NOW).await.is_ok());

    commit(sql, async |tx| tenants::set_disabled(tx, opera, Some(NOW), NOW).await).await.expect("disabled");
    server.directory.refresh().await.expect("read");
    assert!(server.cached(key).is_none() && server.cached(other.as_str()).is_some());
    assert_eq!(server.resolve(key).await.err(), Some(Denied::TenantDisabled));
    let nobody = server.directory.resolve("", Some("opera.example"), NOW).await;
    assert_eq!(nobody.err(), Some(Denied::TenantDisabled));

    commit(sql, async |tx| tenants::set_disabled(tx, opera, None, NOW).await).await.expect("let in");
    // The no is remembered for a second.
    eventually("the tenant is let in again", async || {
        server.hand.advance(100);
        server.resolve(key).await.is_ok()
    })
    .await;
}
