//! Where keys and accounts of a deployment are. The first server says it, and who keeps them elsewhere is told: two servers with two
//! files of accounts would not know each other's people.

use redis::Value;

use crate::link::{Link, LinkError};

/// Says that they are here, unless they are somewhere already. Returns where they are. Asked twice it is answered the same.
pub async fn claim(link: &Link, here: &str) -> Result<String, LinkError> {
    let key = format!("{}accounts:{{onsale}}", link.config().prefix);
    let mut command = redis::cmd("SET");
    command.arg(&key).arg(here).arg("NX").arg("GET");
    // There was nothing if it is no text: now it is here.
    let Value::BulkString(known) = link.at(&key, &command).await? else { return Ok(here.to_owned()) };
    Ok(String::from_utf8_lossy(&known).into_owned())
}
