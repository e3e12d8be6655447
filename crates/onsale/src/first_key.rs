//! The key of the first start: where no key is configured and none was made, one is made and printed, this once. It is never
//! logged: logs are kept, and read by many.

use std::io::{self, Write};

use onsale_access::answers::{Claim, Request};
use onsale_access::audit::{self, Entry};
use onsale_access::house::Access;
use onsale_access::keys::{self, KeyText, NewKey};
use onsale_access::principal::KeyKind;
use onsale_access::refusal::AccessError;
use onsale_access::scope::{Scope, Scopes};
use onsale_domain::Tenant;

/// Who made it, as it is listed.
const BY: &str = "first start";
/// Servers that start at once on an empty database claim this, and one of them makes the key.
const CLAIM: Request = Request { scope: [0; 32], fingerprint: [0; 32] };

/// Makes and prints the first key, if there is none.
pub async fn ensure(access: &Access) -> io::Result<()> {
    let failed = |error: &dyn std::fmt::Display| io::Error::other(format!("making the first key: {error}"));
    if access.has_keys().await.map_err(|error| failed(&error))? {
        return Ok(());
    }
    let Some(key) = make(access).await.map_err(|error| failed(&error))? else { return Ok(()) };
    tracing::info!(
        "the first key was made, and printed on standard output; lost, `onsale keys create` makes another"
    );
    // Where nobody reads it, a key can be made by hand.
    let _ = writeln!(
        io::stdout(),
        "The admin key of this server, shown this once. Keep it, or make others with `onsale keys`:\n\n  {}\n",
        key.as_str()
    );
    Ok(())
}

/// `None`: another server was faster.
async fn make(access: &Access) -> Result<Option<KeyText>, AccessError> {
    let now_ms = access.now_ms();
    let mut tx = access.sql.begin().await?;
    if access.answers.claim(&mut tx, &CLAIM, now_ms).await? != Claim::New {
        return Ok(None);
    }
    let new = NewKey {
        tenant: Tenant::DEFAULT,
        kind: KeyKind::Secret,
        is_test: false,
        name: "admin".to_owned(),
        scopes: KeyKind::Secret.allowed(),
        expires_ms: None,
        by: BY.to_owned(),
        giver: Scopes::of(&Scope::ALL),
    };
    let (key, text) = keys::create(&mut tx, &new, now_ms).await?;
    let entry = Entry {
        at_ms: now_ms,
        tenant: Tenant::DEFAULT,
        who: BY.to_owned(),
        action: "key_created".to_owned(),
        subject: key.id.to_string(),
        address: String::new(),
        request: String::new(),
    };
    audit::append(&mut tx, &entry).await?;
    access.answers.keep(&mut tx, &CLAIM, b"made").await?;
    tx.commit().await?;
    Ok(Some(text))
}
