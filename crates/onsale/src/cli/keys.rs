//! `onsale keys`: makes, lists, rotates and revokes keys, with or without a running server.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use onsale_access::keys::{self, KeyRecord, KeyText, NewKey, Rotation};
use onsale_access::principal::KeyKind;
use onsale_access::scope::{Scope, Scopes};
use onsale_access::tenants::PAGE_MAX;
use onsale_domain::Tenant;
use onsale_edge::http::keys::wire::{KeyBody, MadeKey};

use super::access::{BY, Offline, Where, tenant, time};

const DAY_MS: i64 = 24 * 3_600_000;
/// Whoever has the data folder has everything.
const GIVER: Scopes = Scopes::of(&Scope::ALL);

/// Make, list, rotate and revoke keys
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  onsale keys create --name 'shop server'
  onsale keys create --name 'till 3' --kind restricted --scope read --scope buy --scope settle
  onsale keys create --name deployment --kind restricted --scope read --scope operate
  onsale keys list
  onsale keys rotate key_5m2k9x0c7q4h8w1t --overlap 3600
  onsale keys revoke key_5m2k9x0c7q4h8w1t")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
    /// The tenant whose keys these are
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = tenant, global = true)]
    tenant: Tenant,
    #[command(flatten)]
    at: Where,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a key and print it, this once
    Create(Create),
    /// Print all keys; never the secrets themselves
    List,
    /// Make a key that takes over from another and print it, this once
    Rotate(Rotate),
    /// End a key; the buyer tokens that were made with it end too
    Revoke(Revoke),
}

#[derive(Debug, ClapArgs)]
struct Create {
    /// What people call it
    #[arg(long)]
    name: String,
    #[arg(long, value_enum, default_value = "secret")]
    kind: Kind,
    /// What it may do, once for each [default: all that a key of this kind can]
    #[arg(long = "scope", value_name = "SCOPE", value_parser = scope)]
    scopes: Vec<Scope>,
    /// A test key, with limits of speed of its own
    #[arg(long)]
    test: bool,
    /// It ends after so many days [default: when it is revoked]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(1..=36_500))]
    expires: Option<i64>,
}

#[derive(Debug, ClapArgs)]
struct Rotate {
    /// The key's id
    key: String,
    /// How long the old key still works
    #[arg(long, value_name = "SECONDS", default_value = "0",
        value_parser = clap::value_parser!(i64).range(0..=keys::OVERLAP_MS_MAX / 1_000))]
    overlap: i64,
}

#[derive(Debug, ClapArgs)]
struct Revoke {
    /// The key's id
    key: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Everything in the tenant, on a merchant's server
    Secret,
    /// What is chosen
    Restricted,
    /// For pages
    Publishable,
}

impl Kind {
    fn kind(self) -> KeyKind {
        match self {
            Kind::Secret => KeyKind::Secret,
            Kind::Restricted => KeyKind::Restricted,
            Kind::Publishable => KeyKind::Publishable,
        }
    }
}

fn scope(text: &str) -> Result<Scope, String> {
    let all = || Scope::ALL.map(Scope::as_str).join(", ");
    Scope::parse(text).ok_or_else(|| format!("the scopes are {}", all()))
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    args.at.open(async |offline| match &args.verb {
        Verb::Create(wish) => create(args, wish, offline).await,
        Verb::List => list(args, offline).await,
        Verb::Rotate(wish) => rotate(args, wish, offline).await,
        Verb::Revoke(wish) => revoke(args, wish, offline).await,
    })
}

async fn create(args: &Args, wish: &Create, offline: &Offline) -> anyhow::Result<()> {
    let kind = wish.kind.kind();
    let scopes = match (wish.scopes.as_slice(), kind) {
        ([], KeyKind::Secret | KeyKind::Publishable) => kind.allowed(),
        (named, KeyKind::Secret | KeyKind::Restricted | KeyKind::Publishable) => Scopes::of(named),
    };
    let new = NewKey {
        tenant: offline.known(args.tenant).await?,
        kind,
        is_test: wish.test,
        name: wish.name.clone(),
        scopes,
        expires_ms: wish.expires.map(|days| offline.now_ms + days * DAY_MS),
        by: BY.to_owned(),
        giver: GIVER,
    };
    let mut tx = offline.sql.begin().await?;
    let (key, text) = keys::create(&mut tx, &new, offline.now_ms).await?;
    offline.note(&mut tx, args.tenant, "key_created", &key.id).await?;
    tx.commit().await?;
    give(args, &key, &text)
}

async fn rotate(args: &Args, wish: &Rotate, offline: &Offline) -> anyhow::Result<()> {
    let rotation = Rotation {
        tenant: args.tenant,
        id: &wish.key,
        overlap_ms: wish.overlap * 1_000,
        by: BY,
        giver: GIVER,
    };
    let mut tx = offline.sql.begin().await?;
    let rotated = keys::rotate(&mut tx, &rotation, offline.now_ms).await;
    let (key, text) = rotated.map_err(|error| unknown(args, error))?;
    offline.note(&mut tx, args.tenant, "key_rotated", &wish.key).await?;
    tx.commit().await?;
    give(args, &key, &text)
}

async fn revoke(args: &Args, wish: &Revoke, offline: &Offline) -> anyhow::Result<()> {
    let mut tx = offline.sql.begin().await?;
    let revoked = keys::revoke(&mut tx, args.tenant, &wish.key, offline.now_ms).await;
    revoked.map_err(|error| unknown(args, error))?;
    offline.note(&mut tx, args.tenant, "key_revoked", &wish.key).await?;
    tx.commit().await?;
    let told = serde_json::json!({"id": wish.key, "revoked": true});
    args.at
        .tell(&told, &format!("{} opens nothing any more; running servers know it within a second", wish.key))
}

/// A key that is elsewhere is looked for in the wrong place.
fn unknown(args: &Args, error: onsale_access::refusal::AccessError) -> anyhow::Error {
    let next = format!("`onsale keys list --tenant {}` shows the keys of this tenant", args.tenant.number());
    anyhow::Error::new(error).context(next)
}

fn give(args: &Args, key: &KeyRecord, text: &KeyText) -> anyhow::Result<()> {
    let words = format!(
        "{} {} may: {}\n\n  {}\n\nThis is the only time that it is shown.",
        key.id,
        key.name,
        key.scopes,
        text.as_str()
    );
    args.at.tell(&MadeKey::new(key, text), &words)
}

async fn list(args: &Args, offline: &Offline) -> anyhow::Result<()> {
    let mut all: Vec<KeyRecord> = Vec::new();
    loop {
        let after = all.last().map(|key| key.id.to_string()).unwrap_or_default();
        let page = keys::list(&offline.sql, args.tenant, &after, PAGE_MAX).await?;
        let is_last = page.len() < PAGE_MAX;
        all.extend(page);
        if is_last {
            break;
        }
    }
    let columns = ["id", "name", "key", "scopes", "state", "last used"];
    let row = |key: &KeyRecord| {
        vec![
            key.id.to_string(),
            key.name.clone(),
            key.shown.clone(),
            key.scopes.to_string(),
            state(key, offline.now_ms),
            time(key.last_used_ms),
        ]
    };
    args.at.list(&all.iter().map(KeyBody::new).collect::<Vec<_>>(), &columns, all.iter().map(row))
}

fn state(key: &KeyRecord, now_ms: i64) -> String {
    match (key.revoked_ms, key.expires_ms) {
        (Some(_), _) => "revoked".to_owned(),
        (None, Some(expires)) if expires <= now_ms => "expired".to_owned(),
        (None, Some(expires)) => format!("until {}", time(Some(expires))),
        (None, None) => "active".to_owned(),
    }
}
