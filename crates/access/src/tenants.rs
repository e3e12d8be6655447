//! Tenants, and which of them a host name belongs to. The default tenant is there from the first migration on.

use onsale_domain::Tenant;
use onsale_sql::{Query, Row, Sql, SqlError, Tx, query};

use crate::changes::{Subject, SubjectKind, next_number, record};
use crate::refusal::{AccessError, Refusal, check_name};

static INSERT: Query = query!("tenants/insert");
static LIST: Query = query!("tenants/list");
static FIND: Query = query!("tenants/find");
static RENAME: Query = query!("tenants/rename");
static SET_DISABLED: Query = query!("tenants/set_disabled");
static PUT_HOST: Query = query!("hosts/put");
static REMOVE_HOST: Query = query!("hosts/remove");
static LIST_HOSTS: Query = query!("hosts/list");
static LIST_HOSTS_OF_TENANT: Query = query!("hosts/list_of_tenant");
static FIND_HOST: Query = query!("hosts/find");

/// Rows of one page of a list.
pub const PAGE_MAX: usize = 200;
/// The longest name that DNS has.
const HOST_CHARS_MAX: usize = 253;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantRecord {
    pub tenant: Tenant,
    pub name: String,
    pub created_ms: i64,
    /// Since then nobody of this tenant is let in.
    pub disabled_ms: Option<i64>,
}

/// Gives the next number. The caller commits; two that make tenants at once take turns.
pub async fn create(tx: &mut Tx, name: &str, now_ms: i64) -> Result<Tenant, AccessError> {
    check_name(name)?;
    let number = next_number(tx, "tenant").await?;
    let tenant = u32::try_from(number).ok().and_then(Tenant::new).ok_or(Refusal::TooManyTenants)?;
    let inserted = tx.execute(&INSERT, &[number.into(), name.into(), now_ms.into()]).await;
    inserted.map_err(name_taken)?;
    Ok(tenant)
}

pub async fn rename(tx: &mut Tx, tenant: Tenant, name: &str) -> Result<(), AccessError> {
    check_name(name)?;
    let renamed = tx.execute(&RENAME, &[tenant.number().into(), name.into()]).await.map_err(name_taken)?;
    if renamed == 0 { Err(Refusal::TenantUnknown.into()) } else { Ok(()) }
}

/// Nobody of a disabled tenant is let in, within a second; `None` lets them in again.
pub async fn set_disabled(
    tx: &mut Tx,
    tenant: Tenant,
    since_ms: Option<i64>,
    now_ms: i64,
) -> Result<(), AccessError> {
    if tenant == Tenant::DEFAULT && since_ms.is_some() {
        return Err(Refusal::TenantIsDefault.into());
    }
    if tx.execute(&SET_DISABLED, &[tenant.number().into(), since_ms.into()]).await? == 0 {
        return Err(Refusal::TenantUnknown.into());
    }
    Ok(record(tx, &subject(tenant), now_ms).await?)
}

/// In the order of their numbers; `after` is the last one of the page before.
pub async fn list(sql: &Sql, after: Option<Tenant>, limit: usize) -> Result<Vec<TenantRecord>, SqlError> {
    let after = after.map_or(-1, |tenant| i64::from(tenant.number()));
    let rows = sql.query(&LIST, &[after.into(), (limit.min(PAGE_MAX) as i64).into()]).await?;
    rows.iter().map(read).collect()
}

pub async fn find(sql: &Sql, tenant: Tenant) -> Result<Option<TenantRecord>, SqlError> {
    sql.query(&FIND, &[tenant.number().into()]).await?.first().map(read).transpose()
}

/// Accounts, pages and anonymous reads at this host are this tenant's from now on.
pub async fn put_host(tx: &mut Tx, host: &str, tenant: Tenant, now_ms: i64) -> Result<(), AccessError> {
    let host = host_name(host)?;
    if tx.query(&FIND, &[tenant.number().into()]).await?.is_empty() {
        return Err(Refusal::TenantUnknown.into());
    }
    tx.execute(&PUT_HOST, &[host.as_str().into(), tenant.number().into()]).await?;
    Ok(record(tx, &Subject::new(SubjectKind::Host, &host), now_ms).await?)
}

/// From now on it is the default tenant's, as every host that nobody has.
pub async fn remove_host(tx: &mut Tx, host: &str, now_ms: i64) -> Result<(), AccessError> {
    let host = host_name(host)?;
    if tx.execute(&REMOVE_HOST, &[host.as_str().into()]).await? == 0 {
        return Err(Refusal::HostUnknown.into());
    }
    Ok(record(tx, &Subject::new(SubjectKind::Host, &host), now_ms).await?)
}

/// In the order of their names; `after` is the last one of the page before.
pub async fn list_hosts(sql: &Sql, after: &str, limit: usize) -> Result<Vec<(String, Tenant)>, SqlError> {
    let rows = sql.query(&LIST_HOSTS, &[after.into(), (limit.min(PAGE_MAX) as i64).into()]).await?;
    rows.iter().map(|row| Ok((row.text(0)?.to_owned(), read_tenant(row, 1)?))).collect()
}

/// Those of one tenant, in the order of their names: the first page of them.
pub async fn hosts_of(sql: &Sql, tenant: Tenant) -> Result<Vec<String>, SqlError> {
    let rows = sql.query(&LIST_HOSTS_OF_TENANT, &[tenant.number().into(), (PAGE_MAX as i64).into()]).await?;
    rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
}

/// The tenant of a host, and whether it is disabled.
pub(crate) async fn of_host(sql: &Sql, host: &str) -> Result<(Tenant, bool), SqlError> {
    let rows = sql.query(&FIND_HOST, &[host.into()]).await?;
    let Some(row) = rows.first() else {
        return Err(SqlError::Damaged("the default tenant is gone".to_owned()));
    };
    Ok((read_tenant(row, 0)?, row.flag(1)?))
}

/// As it is stored and compared: lower case, without a port and the dot at its end.
pub fn host_name(text: &str) -> Result<String, Refusal> {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = match text.rsplit_once(':') {
        // Of an address with version 6 only what follows its bracket is a port.
        Some((name, port)) if is_port(port) && (!name.contains(':') || name.ends_with(']')) => name,
        Some(_) | None => text,
    };
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    // The address of a machine with version 6 stands in brackets.
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_address = address.is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
    let fits = (1..=HOST_CHARS_MAX).contains(&name.len()) && (name.bytes().all(plain) || is_address);
    if fits { Ok(name) } else { Err(Refusal::HostInvalid) }
}

pub(crate) fn subject(tenant: Tenant) -> Subject {
    Subject::new(SubjectKind::Tenant, &tenant.number().to_string())
}

pub(crate) fn read_tenant(row: &Row, column: usize) -> Result<Tenant, SqlError> {
    let number = u32::try_from(row.int(column)?).ok();
    number.and_then(Tenant::new).ok_or_else(|| row.is_not(column, "a tenant's number"))
}

fn read(row: &Row) -> Result<TenantRecord, SqlError> {
    Ok(TenantRecord {
        tenant: read_tenant(row, 0)?,
        name: row.text(1)?.to_owned(),
        created_ms: row.int(2)?,
        disabled_ms: row.int_or_none(3)?,
    })
}

fn name_taken(error: SqlError) -> AccessError {
    if error.is_unique_violation() { Refusal::TenantNameTaken.into() } else { error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_compared_without_case_port_and_last_dot() {
        for (text, name) in [
            ("Shop.Example.org", "shop.example.org"),
            ("shop.example.org:8443", "shop.example.org"),
            ("shop.example.org.", "shop.example.org"),
            ("[::1]:7070", "[::1]"),
            ("127.0.0.1:7070", "127.0.0.1"),
        ] {
            assert_eq!(host_name(text).as_deref(), Ok(name));
        }
        for wrong in ["", ":80", "a b", "shop/../x", "ä.example", "[zz]", "a:b:c", &"x".repeat(254)] {
            assert_eq!(host_name(wrong), Err(Refusal::HostInvalid), "{wrong}");
        }
    }
}
