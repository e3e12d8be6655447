//! The lease of a desk: one server at a time looks after its payments. The token grows with every change of hands, and
//! the desk's script refuses what was decided under another: a server that was away for too long cannot write.

use std::collections::BTreeMap;

use onsale_domain::{Command, ListingId, Millis};
use onsale_engine::EngineError;
use parking_lot::Mutex;
use redis::Value;

use super::Inner;
use crate::caller::ScriptCall;
use crate::kinds::desk::commands::needs_lease;

/// Who has not asked again for so long has lost it.
pub(super) const LEASE_MS: Millis = 3_000;

#[derive(Debug)]
pub(super) struct Leases {
    /// How this server signs.
    name: String,
    /// The token and the name, as they stand in Redis, by desk.
    held: Mutex<BTreeMap<ListingId, String>>,
    /// A decision about a desk is made of its latest state: two of this server would only be in each other's way.
    pub turn: tokio::sync::Mutex<()>,
}

impl Default for Leases {
    fn default() -> Leases {
        let name = format!("{:032x}", rand::random::<u128>());
        Leases { name, held: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }
}

impl Leases {
    /// The lease under which a command is decided: none if it needs none; nobody's if this server has none.
    pub(super) fn under(&self, listing: &ListingId, command: &Command) -> Option<String> {
        let Command::Desk(command) = command else { return None };
        needs_lease(command)
            .then(|| self.held.lock().get(listing).cloned().unwrap_or_else(|| "0|nobody".into()))
    }

    pub(super) fn lost(&self, listing: &ListingId) {
        self.held.lock().remove(listing);
    }
}

impl Inner {
    /// Takes the lease, or keeps it; `false`: another server has it.
    pub(super) async fn lease(&self, listing: ListingId, for_ms: Millis) -> Result<bool, EngineError> {
        let name = &self.leases.name;
        let call = ScriptCall::lease(listing, &self.prefix, name, for_ms, self.clock.told());
        let told = self.call(&call).await?;
        let Value::Array(parts) = &told else {
            return Err(EngineError::Damaged("a lease is answered with two numbers".to_owned()));
        };
        match parts.as_slice() {
            [Value::Int(1), Value::Int(token)] if for_ms > 0 => {
                self.leases.held.lock().insert(listing, format!("{token}|{name}"));
                Ok(true)
            }
            _ => {
                self.leases.lost(&listing);
                Ok(false)
            }
        }
    }
}
