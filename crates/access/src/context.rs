//! What every request to accounts and sessions brings along: whose people, from where, and when. The clock is the caller's.

use onsale_domain::Tenant;
use onsale_domain::time::Millis;

#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub tenant: Tenant,
    /// The peer's address as the edge believes it, for the audit trail.
    pub address: &'a str,
    pub request_id: &'a str,
    pub now_ms: Millis,
}

impl Context<'_> {
    pub(crate) fn tenant_number(&self) -> i64 {
        i64::from(self.tenant.number())
    }
}
