//! Keys: made, listed, rotated, revoked. Only a hash is stored; the key itself is given out once.

mod record;
mod text;

pub use record::KeyRecord;
pub use text::{KeyText, is_key};
pub(crate) use text::{checksum, looks_like_key};

use onsale_domain::Tenant;
use onsale_sql::{Query, Sql, SqlError, Tx, Value, query};

use crate::changes::{Subject, SubjectKind, record as record_change};
use crate::principal::KeyKind;
use crate::random;
use crate::refusal::{AccessError, Refusal, check_name};
use crate::scope::{Scope, Scopes};
use crate::tenants::PAGE_MAX;

static INSERT: Query = query!("keys/insert");
static LIST: Query = query!("keys/list");
static FIND: Query = query!("keys/find");
static FIND_BY_HASH: Query = query!("keys/find_by_hash");
static FIND_BY_ID: Query = query!("keys/find_by_id");
static COUNT_LIVING: Query = query!("keys/count_living");
static REPLACE: Query = query!("keys/replace");
static REVOKE: Query = query!("keys/revoke");
static NOTE_USE: Query = query!("keys/note_use");
static CLEAN: Query = query!("keys/clean");

/// A merchant with more has lost count of them.
const LIVING_MAX: i64 = 1_000;
/// How long an old key works beside the one that took over: long enough to reach every server of a merchant.
pub const OVERLAP_MS_MAX: i64 = 7 * 24 * 3_600_000;
/// How long a key that is over is still listed: as long as the audit trail that names it.
const KEPT_MS: i64 = 400 * 24 * 3_600_000;

const EVERYTHING: Scopes = Scopes::of(&Scope::ALL);
const TENANT: Scopes =
    Scopes::of(&[Scope::Read, Scope::Buy, Scope::Listings, Scope::BoxOffice, Scope::Settle, Scope::Access]);
/// Buying counts only together with a buyer token.
const PUBLIC: Scopes = Scopes::of(&[Scope::Read, Scope::Buy]);
const OPERATOR: Scopes = Scopes::of(&[Scope::Read, Scope::Operate]);

impl KeyKind {
    /// The most that a key of this kind can have.
    pub fn allowed(self) -> Scopes {
        match self {
            KeyKind::Secret => TENANT,
            KeyKind::Restricted => EVERYTHING,
            KeyKind::Publishable => PUBLIC,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            KeyKind::Secret => "secret",
            KeyKind::Restricted => "restricted",
            KeyKind::Publishable => "publishable",
        }
    }

    pub fn parse(text: &str) -> Option<KeyKind> {
        let kinds = [KeyKind::Secret, KeyKind::Restricted, KeyKind::Publishable];
        kinds.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub tenant: Tenant,
    pub kind: KeyKind,
    pub is_test: bool,
    pub name: String,
    pub scopes: Scopes,
    pub expires_ms: Option<i64>,
    /// Who makes it, and what they may do themselves: nobody gives away more.
    pub by: String,
    pub giver: Scopes,
}

impl NewKey {
    fn check(&self, now_ms: i64) -> Result<(), Refusal> {
        check_name(&self.name)?;
        if self.scopes == Scopes::NONE || !self.scopes.within(self.kind.allowed()) {
            return Err(Refusal::ScopesInvalid);
        }
        if self.scopes.contains(Scope::Operate) && !self.scopes.within(OPERATOR) {
            return Err(Refusal::OperateAlone);
        }
        if !self.scopes.within(self.giver) {
            return Err(Refusal::ScopeNotYours);
        }
        if self.expires_ms.is_some_and(|expires| expires <= now_ms) {
            return Err(Refusal::ExpiryInvalid);
        }
        Ok(())
    }
}

/// Makes a key. Its text is in the answer, and nowhere else.
pub async fn create(tx: &mut Tx, new: &NewKey, now_ms: i64) -> Result<(KeyRecord, KeyText), AccessError> {
    new.check(now_ms)?;
    let tenant = Value::from(new.tenant.number());
    let counted = tx.query(&COUNT_LIVING, &[tenant, now_ms.into()]).await?;
    if counted.first().map_or(Ok(0), |row| row.int(0))? >= LIVING_MAX {
        return Err(Refusal::TooManyKeys.into());
    }
    let text = KeyText::random(new.kind, new.is_test);
    let key = KeyRecord {
        id: random::id("key_").into(),
        family: random::id("fam_").into(),
        tenant: new.tenant,
        kind: new.kind,
        is_test: new.is_test,
        name: new.name.clone(),
        shown: text.shown(new.kind, new.is_test),
        scopes: new.scopes,
        created_ms: now_ms,
        by: new.by.clone(),
        expires_ms: new.expires_ms,
        revoked_ms: None,
        replaced_by: None,
        last_used_ms: None,
    };
    insert(tx, &key, &text).await?;
    Ok((key, text))
}

async fn insert(tx: &mut Tx, key: &KeyRecord, text: &KeyText) -> Result<(), AccessError> {
    let inserted = tx.execute(&INSERT, &key.as_row(text.hash())).await;
    // The row refers to its tenant and to nothing else.
    let unknown = |error: &SqlError| matches!(error, SqlError::Constraint(_));
    inserted
        .map(drop)
        .map_err(|error| if unknown(&error) { Refusal::TenantUnknown.into() } else { error.into() })
}

/// Which key is to be replaced.
#[derive(Clone, Debug)]
pub struct Rotation<'a> {
    pub tenant: Tenant,
    pub id: &'a str,
    /// How long the old key still works.
    pub overlap_ms: i64,
    /// Who asks for it, and what they may do themselves: they are given a key that may do all that the old one may.
    pub by: &'a str,
    pub giver: Scopes,
}

/// A new key of the same family, with the same scopes and as long a life. The old one works until the overlap is over.
pub async fn rotate(
    tx: &mut Tx,
    rotation: &Rotation<'_>,
    now_ms: i64,
) -> Result<(KeyRecord, KeyText), AccessError> {
    if !(0..=OVERLAP_MS_MAX).contains(&rotation.overlap_ms) {
        return Err(Refusal::OverlapInvalid.into());
    }
    let old = find_in(tx, rotation.tenant, rotation.id).await?.ok_or(Refusal::KeyUnknown)?;
    if !old.scopes.within(rotation.giver) {
        return Err(Refusal::ScopeNotYours.into());
    }
    if old.revoked_ms.is_some() || old.expires_ms.is_some_and(|expires| now_ms >= expires) {
        return Err(Refusal::KeyOver.into());
    }
    if old.replaced_by.is_some() {
        return Err(Refusal::KeyRotated.into());
    }
    let text = KeyText::random(old.kind, old.is_test);
    let key = KeyRecord {
        id: random::id("key_").into(),
        shown: text.shown(old.kind, old.is_test),
        created_ms: now_ms,
        by: rotation.by.to_owned(),
        expires_ms: old.expires_ms.map(|expires| now_ms + (expires - old.created_ms)),
        last_used_ms: None,
        ..old.clone()
    };
    insert(tx, &key, &text).await?;
    let end = now_ms + rotation.overlap_ms;
    let end = old.expires_ms.map_or(end, |expires| expires.min(end));
    tx.execute(&REPLACE, &[(&*old.id).into(), (&*key.id).into(), end.into()]).await?;
    record_change(tx, &subject(&old.id), now_ms).await?;
    Ok((key, text))
}

/// Ends a key within a second, and the buyer tokens that its holder gave out. Revoking twice is a yes.
pub async fn revoke(tx: &mut Tx, tenant: Tenant, id: &str, now_ms: i64) -> Result<(), AccessError> {
    if tx.execute(&REVOKE, &[tenant.number().into(), id.into(), now_ms.into()]).await? == 0 {
        find_in(tx, tenant, id).await?.ok_or(Refusal::KeyUnknown)?;
        return Ok(());
    }
    Ok(record_change(tx, &subject(id), now_ms).await?)
}

/// Those of one tenant, in the order of their ids; `after` is the last one of the page before.
pub async fn list(sql: &Sql, tenant: Tenant, after: &str, limit: usize) -> Result<Vec<KeyRecord>, SqlError> {
    let page = (limit.min(PAGE_MAX) as i64).into();
    let rows = sql.query(&LIST, &[tenant.number().into(), after.into(), page]).await?;
    rows.iter().map(KeyRecord::read).collect()
}

/// One of this tenant.
pub async fn find(sql: &Sql, tenant: Tenant, id: &str) -> Result<Option<KeyRecord>, SqlError> {
    let rows = sql.query(&FIND, &[tenant.number().into(), id.into()]).await?;
    rows.first().map(KeyRecord::read).transpose()
}

pub async fn find_in(tx: &mut Tx, tenant: Tenant, id: &str) -> Result<Option<KeyRecord>, SqlError> {
    let rows = tx.query(&FIND, &[tenant.number().into(), id.into()]).await?;
    rows.first().map(KeyRecord::read).transpose()
}

/// The key with this hash, and whether its tenant is disabled.
pub(crate) async fn find_by_hash(sql: &Sql, hash: &[u8; 32]) -> Result<Option<(KeyRecord, bool)>, SqlError> {
    let rows = sql.query(&FIND_BY_HASH, &[hash.into()]).await?;
    rows.first().map(|row| Ok((KeyRecord::read(row)?, row.flag(KeyRecord::COLUMNS)?))).transpose()
}

pub(crate) async fn find_by_id(sql: &Sql, id: &str) -> Result<Option<(KeyRecord, bool)>, SqlError> {
    let rows = sql.query(&FIND_BY_ID, &[id.into()]).await?;
    rows.first().map(|row| Ok((KeyRecord::read(row)?, row.flag(KeyRecord::COLUMNS)?))).transpose()
}

pub(crate) async fn note_uses(sql: &Sql, uses: &[(std::sync::Arc<str>, i64)]) -> Result<(), SqlError> {
    let mut tx = sql.begin().await?;
    for (key, used_ms) in uses {
        tx.execute(&NOTE_USE, &[(&**key).into(), (*used_ms).into()]).await?;
    }
    tx.commit().await
}

pub(crate) async fn clean(tx: &mut Tx, now_ms: i64) -> Result<u64, SqlError> {
    tx.execute(&CLEAN, &[(now_ms - KEPT_MS).into()]).await
}

pub(crate) fn subject(id: &str) -> Subject {
    Subject::new(SubjectKind::Key, id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: KeyKind, scopes: &[Scope], giver: Scopes) -> Result<(), Refusal> {
        let new = NewKey {
            tenant: Tenant::DEFAULT,
            kind,
            is_test: false,
            name: "till".to_owned(),
            scopes: Scopes::of(scopes),
            expires_ms: None,
            by: "cli".to_owned(),
            giver,
        };
        new.check(0)
    }

    #[test]
    fn a_key_has_no_more_scopes_than_its_kind_allows() {
        for scope in Scope::ALL {
            let allowed = |kind| check(kind, &[scope], EVERYTHING).is_ok();
            assert_eq!(allowed(KeyKind::Secret), scope != Scope::Operate, "{scope:?}");
            assert!(allowed(KeyKind::Restricted), "{scope:?}");
            assert_eq!(
                allowed(KeyKind::Publishable),
                [Scope::Read, Scope::Buy].contains(&scope),
                "{scope:?}"
            );
        }
        assert_eq!(check(KeyKind::Restricted, &[], EVERYTHING), Err(Refusal::ScopesInvalid));
    }

    #[test]
    fn who_operates_sees_no_personal_data() {
        let operate = |other| check(KeyKind::Restricted, &[Scope::Operate, other], EVERYTHING);
        assert_eq!(operate(Scope::Read), Ok(()));
        assert_eq!(operate(Scope::BoxOffice), Err(Refusal::OperateAlone));
    }

    #[test]
    fn nobody_gives_away_a_scope_that_they_do_not_have() {
        let giver = Scopes::of(&[Scope::Access, Scope::Read]);
        assert_eq!(check(KeyKind::Restricted, &[Scope::Read], giver), Ok(()));
        assert_eq!(check(KeyKind::Restricted, &[Scope::Settle], giver), Err(Refusal::ScopeNotYours));
        assert_eq!(check(KeyKind::Restricted, &[Scope::Operate], TENANT), Err(Refusal::ScopeNotYours));
    }
}
