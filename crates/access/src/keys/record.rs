//! A key as it is stored and shown: everything but the key.

use std::sync::Arc;

use onsale_domain::Tenant;
use onsale_sql::{Row, SqlError, Value};

use crate::principal::KeyKind;
use crate::scope::Scopes;
use crate::tenants::read_tenant;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// `key_…`
    pub id: Arc<str>,
    /// `fam_…`: the same for all keys that took over from each other.
    pub family: Arc<str>,
    pub tenant: Tenant,
    pub kind: KeyKind,
    pub is_test: bool,
    pub name: String,
    /// Its beginning and its last characters.
    pub shown: String,
    pub scopes: Scopes,
    pub created_ms: i64,
    pub by: String,
    pub expires_ms: Option<i64>,
    pub revoked_ms: Option<i64>,
    /// The key that took over.
    pub replaced_by: Option<Arc<str>>,
    /// To the minute.
    pub last_used_ms: Option<i64>,
}

impl KeyRecord {
    pub(super) const COLUMNS: usize = 14;

    pub(super) fn as_row(&self, hash: [u8; 32]) -> [Value; 12] {
        [
            (&*self.id).into(),
            hash.into(),
            (&*self.family).into(),
            self.tenant.number().into(),
            self.kind.as_str().into(),
            self.is_test.into(),
            (&self.name).into(),
            (&self.shown).into(),
            self.scopes.to_string().into(),
            self.created_ms.into(),
            (&self.by).into(),
            self.expires_ms.into(),
        ]
    }

    pub(super) fn read(row: &Row) -> Result<KeyRecord, SqlError> {
        Ok(KeyRecord {
            id: row.text(0)?.into(),
            family: row.text(1)?.into(),
            tenant: read_tenant(row, 2)?,
            kind: KeyKind::parse(row.text(3)?).ok_or_else(|| row.is_not(3, "a kind of key"))?,
            is_test: row.flag(4)?,
            name: row.text(5)?.to_owned(),
            shown: row.text(6)?.to_owned(),
            scopes: Scopes::parse(row.text(7)?).ok_or_else(|| row.is_not(7, "scopes"))?,
            created_ms: row.int(8)?,
            by: row.text(9)?.to_owned(),
            expires_ms: row.int_or_none(10)?,
            revoked_ms: row.int_or_none(11)?,
            replaced_by: row.text_or_none(12)?.map(Into::into),
            last_used_ms: row.int_or_none(13)?,
        })
    }
}
