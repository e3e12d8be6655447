//! What every request to accounts and sessions brings along: whose people, from where, and when. The clock is the caller's.

use onsale_domain::Tenant;
use onsale_domain::time::Millis;

use crate::once::Once;

#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub tenant: Tenant,
    /// The peer's address as the edge believes it, for the audit trail.
    pub address: &'a str,
    pub request_id: &'a str,
    pub now_ms: Millis,
    /// Of a request that carries an idempotency key and does something that is not the same when it is done twice.
    pub once: Option<Once<'a>>,
}

impl Context<'_> {
    pub(crate) fn tenant_number(&self) -> i64 {
        i64::from(self.tenant.number())
    }
}
