//! Keys as answers show them.

use onsale_access::keys::{KeyRecord, KeyText};
use onsale_access::principal::KeyKind;
use onsale_access::scope::Scope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::time::Time;

/// What a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = KeyKind)]
pub enum KeyKindWord {
    Secret,
    Restricted,
    Publishable,
}

impl KeyKindWord {
    pub fn kind(self) -> KeyKind {
        match self {
            KeyKindWord::Secret => KeyKind::Secret,
            KeyKindWord::Restricted => KeyKind::Restricted,
            KeyKindWord::Publishable => KeyKind::Publishable,
        }
    }

    fn of(kind: KeyKind) -> KeyKindWord {
        match kind {
            KeyKind::Secret => KeyKindWord::Secret,
            KeyKind::Restricted => KeyKindWord::Restricted,
            KeyKind::Publishable => KeyKindWord::Publishable,
        }
    }
}

/// One permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Scope)]
pub enum ScopeWord {
    Read,
    Buy,
    Listings,
    BoxOffice,
    Settle,
    Access,
    Operate,
}

impl ScopeWord {
    pub fn scope(self) -> Scope {
        match self {
            ScopeWord::Read => Scope::Read,
            ScopeWord::Buy => Scope::Buy,
            ScopeWord::Listings => Scope::Listings,
            ScopeWord::BoxOffice => Scope::BoxOffice,
            ScopeWord::Settle => Scope::Settle,
            ScopeWord::Access => Scope::Access,
            ScopeWord::Operate => Scope::Operate,
        }
    }

    fn of(scope: Scope) -> ScopeWord {
        match scope {
            Scope::Read => ScopeWord::Read,
            Scope::Buy => ScopeWord::Buy,
            Scope::Listings => ScopeWord::Listings,
            Scope::BoxOffice => ScopeWord::BoxOffice,
            Scope::Settle => ScopeWord::Settle,
            Scope::Access => ScopeWord::Access,
            Scope::Operate => ScopeWord::Operate,
        }
    }
}

/// Everything about a key but the key itself.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Key)]
pub struct KeyBody {
    #[schema(example = "key_5m2k9x0c7q4h8w1t")]
    id: String,
    kind: KeyKindWord,
    /// A test key has limits of speed of its own.
    test: bool,
    name: String,
    /// Its beginning and its last characters, so that people can tell their keys apart.
    #[schema(example = "onsale_live_sk_…c7q4")]
    shown: String,
    scopes: Vec<ScopeWord>,
    created_at: Time,
    /// Who made it: a key, a person, or the command line.
    created_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<Time>,
    /// The key that took over.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<String>,
    /// To the minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<Time>,
}

impl KeyBody {
    pub fn new(key: &KeyRecord) -> KeyBody {
        KeyBody {
            id: key.id.to_string(),
            kind: KeyKindWord::of(key.kind),
            test: key.is_test,
            name: key.name.clone(),
            shown: key.shown.clone(),
            scopes: key.scopes.iter().map(ScopeWord::of).collect(),
            created_at: Time(key.created_ms),
            created_by: key.by.clone(),
            expires_at: key.expires_ms.map(Time),
            revoked_at: key.revoked_ms.map(Time),
            replaced_by: key.replaced_by.as_deref().map(str::to_owned),
            last_used_at: key.last_used_ms.map(Time),
        }
    }
}

/// A key as it is given out: whole, this once.
#[derive(Serialize, ToSchema)]
pub struct MadeKey {
    /// For its holder alone. Nobody can look it up later.
    #[schema(example = "onsale_live_sk_…")]
    key: String,
    #[serde(flatten)]
    about: KeyBody,
}

impl MadeKey {
    pub fn new(key: &KeyRecord, text: &KeyText) -> MadeKey {
        MadeKey { key: text.as_str().to_owned(), about: KeyBody::new(key) }
    }
}

impl std::fmt::Debug for MadeKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MadeKey").field("about", &self.about).finish_non_exhaustive()
    }
}
