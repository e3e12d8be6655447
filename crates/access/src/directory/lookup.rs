//! What SQL says about a credential that is not remembered.

use std::sync::Arc;

use onsale_domain::Tenant;
use onsale_domain::time::is_over;
use onsale_sql::SqlError;

use super::{Denied, Directory, cache};
use crate::changes::{Subject, SubjectKind};
use crate::keys::{self, KeyRecord};
use crate::principal::{KeyHolder, Person, Principal, Who};
use crate::tenants;
use crate::vouchers;

/// A session's token is no shorter than 128 bits in text, and shorter than a line of a log.
const SESSION_CHARS: std::ops::RangeInclusive<usize> = 20..=200;

/// Who it is, until when, and what that depends on.
pub(super) struct Found {
    pub(super) principal: Principal,
    pub(super) until_ms: Option<i64>,
    pub(super) subjects: Vec<Subject>,
}

/// A no, or nobody can say.
pub(super) enum Miss {
    Denied(Denied),
    Sql(SqlError),
}

impl From<Denied> for Miss {
    fn from(denied: Denied) -> Miss {
        Miss::Denied(denied)
    }
}

impl From<SqlError> for Miss {
    fn from(error: SqlError) -> Miss {
        Miss::Sql(error)
    }
}

impl Directory {
    pub(super) async fn look_up(
        &self,
        credential: &str,
        hash: &cache::Hash,
        now_ms: i64,
    ) -> Result<Found, Miss> {
        if credential.starts_with(vouchers::PREFIX) {
            return self.look_up_voucher(credential, now_ms).await;
        }
        if keys::looks_like_key(credential) {
            if !keys::is_key(credential) {
                return Err(Denied::Malformed.into());
            }
            let (key, is_disabled) = keys::find_by_hash(&self.sql, hash).await?.ok_or(Denied::Unknown)?;
            return Ok(of_key(key, is_disabled, now_ms)?);
        }
        let is_plain = credential.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || !SESSION_CHARS.contains(&credential.len()) {
            return Err(Denied::Malformed.into());
        }
        self.look_up_session(hash, now_ms).await
    }

    async fn look_up_voucher(&self, text: &str, now_ms: i64) -> Result<Found, Miss> {
        let voucher = self.vouchers.read(text).ok_or(Denied::Unknown)?;
        if is_over(voucher.expires_ms, now_ms) {
            return Err(Denied::Expired.into());
        }
        // A key that was rotated has ended, but not what its holder said: only revoking takes that back.
        let (key, is_disabled) = keys::find_by_id(&self.sql, &voucher.key).await?.ok_or(Denied::Revoked)?;
        if key.revoked_ms.is_some() || key.tenant != voucher.tenant {
            return Err(Denied::Revoked.into());
        }
        if is_disabled {
            return Err(Denied::TenantDisabled.into());
        }
        let subjects = vec![keys::subject(&key.id), tenants::subject(key.tenant)];
        Ok(Found { principal: voucher.principal(), until_ms: Some(voucher.expires_ms), subjects })
    }

    async fn look_up_session(&self, hash: &cache::Hash, now_ms: i64) -> Result<Found, Miss> {
        let found = self.sessions.find(hash, now_ms).await?.ok_or(Denied::Unknown)?;
        if is_over(found.expires_ms, now_ms) {
            return Err(Denied::Expired.into());
        }
        let tenant = tenants::find(&self.sql, found.tenant).await?.ok_or(Denied::Unknown)?;
        if tenant.disabled_ms.is_some() {
            return Err(Denied::TenantDisabled.into());
        }
        let subjects = vec![
            Subject::new(SubjectKind::Session, &found.session),
            Subject::new(SubjectKind::User, found.user.as_str()),
            tenants::subject(found.tenant),
        ];
        let principal = Principal {
            tenant: found.tenant,
            scopes: found.roles.scopes(),
            family: found.user.as_str().into(),
            is_test: false,
            who: Who::Person(Person {
                user: found.user,
                session: found.session,
                roles: found.roles,
                is_guest: found.is_guest,
            }),
        };
        Ok(Found { principal, until_ms: Some(found.expires_ms), subjects })
    }

    /// Who carries nothing belongs to the tenant of the host.
    pub(super) async fn look_up_host(&self, host: &str) -> Result<Found, Miss> {
        let (tenant, is_disabled): (Tenant, bool) = tenants::of_host(&self.sql, host).await?;
        if is_disabled {
            return Err(Denied::TenantDisabled.into());
        }
        let subjects = vec![Subject::new(SubjectKind::Host, host), tenants::subject(tenant)];
        Ok(Found { principal: Principal::nobody(tenant), until_ms: None, subjects })
    }
}

fn of_key(key: KeyRecord, is_disabled: bool, now_ms: i64) -> Result<Found, Denied> {
    if key.revoked_ms.is_some() {
        return Err(Denied::Revoked);
    }
    if key.expires_ms.is_some_and(|expires| is_over(expires, now_ms)) {
        return Err(Denied::Expired);
    }
    if is_disabled {
        return Err(Denied::TenantDisabled);
    }
    let subjects = vec![keys::subject(&key.id), tenants::subject(key.tenant)];
    let holder = KeyHolder { key: Arc::clone(&key.id), kind: key.kind };
    let principal = Principal {
        tenant: key.tenant,
        who: Who::Key(holder),
        scopes: key.scopes,
        family: key.family,
        is_test: key.is_test,
    };
    Ok(Found { principal, until_ms: key.expires_ms, subjects })
}
