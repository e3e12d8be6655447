//! `/v1/tenants`: merchants that share a deployment, and the hosts by which their pages are called. For its operator.

use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::refusal::Refusal;
use onsale_access::tenants::{self, PAGE_MAX, TenantRecord};
use onsale_domain::Tenant;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access_change::{AccessCaller, Begun, KeptAnswer, failed, refused};
use super::extract::{Json, PathParams};
use super::list::{self, Cursors, List, Page};
use super::problem::Problem;
use super::query::Query;
use super::reply;
use super::table::{RouteDeclaration, declare};
use super::time::Time;

/// The routes of tenants.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("tenants.create", create, Operate, Staff, keyed, in_access),
        declare!("tenants.list", list, Operate, Staff, in_access),
        declare!("tenants.show", show, Operate, Staff, in_access),
        declare!("tenants.change", change, Operate, Staff, keyed, in_access),
        declare!("tenants.put_host", put_host, Operate, Staff, keyed, in_access),
        declare!("tenants.remove_host", remove_host, Operate, Staff, keyed, in_access),
    ]
}

/// A new tenant.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTenant {
    /// What people call it; no two have the same.
    #[schema(example = "City Theatre")]
    name: String,
}

/// What is changed of a tenant.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(min_properties = 1)]
pub struct TenantChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Nobody of a disabled tenant is let in, within a second; `false` lets them in again.
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tenant)]
pub struct TenantBody {
    #[schema(example = "ten_7")]
    id: String,
    name: String,
    created_at: Time,
    /// Since then nobody of this tenant is let in.
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled_at: Option<Time>,
}

/// A tenant with its hosts.
#[derive(Debug, Serialize, ToSchema)]
pub struct WholeTenant {
    #[serde(flatten)]
    about: TenantBody,
    /// Accounts, pages and reads without a key at these hosts are this tenant's. At most 200 are shown.
    hosts: Vec<String>,
}

impl TenantBody {
    fn new(tenant: &TenantRecord) -> TenantBody {
        TenantBody {
            id: id_of(tenant.tenant),
            name: tenant.name.clone(),
            created_at: Time(tenant.created_ms),
            disabled_at: tenant.disabled_ms.map(Time),
        }
    }
}

/// `ten_7`.
fn id_of(tenant: Tenant) -> String {
    format!("ten_{}", tenant.number())
}

/// Only as it is written here: one tenant, one name in a path.
fn read_id(text: &str) -> Option<Tenant> {
    let number = text.strip_prefix("ten_")?.parse().ok()?;
    Tenant::new(number).filter(|tenant| id_of(*tenant) == text)
}

fn tenant_in(path: &PathParams) -> Result<Tenant, Problem> {
    read_id(path.first()).ok_or_else(|| refused(Refusal::TenantUnknown.into()))
}

/// Make a tenant
///
/// Its listings, keys and people are its own. Give it a first key with `onsale keys create --tenant`.
#[utoipa::path(post, path = "/v1/tenants", tag = "tenants", request_body = NewTenant,
    responses((status = 201, body = TenantBody)))]
pub async fn create(caller: AccessCaller, Json(body): Json<NewTenant>) -> Result<Response, Problem> {
    let mut change = match caller.begin(&body).await? {
        Begun::New(change) => change,
        Begun::Done(answer) => return Ok(answer),
    };
    let tenant = tenants::create(&mut change.tx, &body.name, change.now_ms).await.map_err(refused)?;
    let id = id_of(tenant);
    let told =
        TenantBody { id: id.clone(), name: body.name, created_at: Time(change.now_ms), disabled_at: None };
    change.finish("tenant_created", &id, KeptAnswer::made(format!("/v1/tenants/{id}"), &told)).await
}

/// List tenants
///
/// All tenants of this deployment, in the order of their numbers.
#[utoipa::path(get, path = "/v1/tenants", tag = "tenants",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<TenantBody>)))]
pub async fn list(caller: AccessCaller, Query(page): Query<Page>) -> Result<Response, Problem> {
    let cursors = Cursors::new("tenants.list", "");
    let limit = list::limit(page.limit)?.min(PAGE_MAX - 1);
    let after = cursors.read(page.after.as_deref(), read_id)?;
    let found = tenants::list(&caller.access.sql, after, limit + 1).await.map_err(failed)?;
    let page = list::cut(found, limit, |tenant| cursors.write(&id_of(tenant.tenant)));
    Ok(reply::json(StatusCode::OK, &page.map(TenantBody::new)))
}

/// Show a tenant
///
/// The tenant and the hosts that are its own.
#[utoipa::path(get, path = "/v1/tenants/{tenant}", tag = "tenants",
    responses((status = 200, body = WholeTenant)))]
pub async fn show(caller: AccessCaller, path: PathParams) -> Result<Response, Problem> {
    let tenant = tenant_in(&path)?;
    let found = tenants::find(&caller.access.sql, tenant).await.map_err(failed)?;
    let found = found.ok_or_else(|| refused(Refusal::TenantUnknown.into()))?;
    let hosts = tenants::hosts_of(&caller.access.sql, tenant).await.map_err(failed)?;
    Ok(reply::json(StatusCode::OK, &WholeTenant { about: TenantBody::new(&found), hosts }))
}

/// Change a tenant
///
/// Rename it, disable it, or let it in again. The default tenant cannot be disabled.
#[utoipa::path(patch, path = "/v1/tenants/{tenant}", tag = "tenants", request_body = TenantChange,
    responses((status = 204)))]
pub async fn change(
    caller: AccessCaller,
    path: PathParams,
    Json(body): Json<TenantChange>,
) -> Result<Response, Problem> {
    let tenant = tenant_in(&path)?;
    if body.name.is_none() && body.disabled.is_none() {
        return Err(Problem::invalid("body", "names at least one thing to change"));
    }
    let mut change = match caller.begin(&body).await? {
        Begun::New(change) => change,
        Begun::Done(answer) => return Ok(answer),
    };
    if let Some(name) = &body.name {
        tenants::rename(&mut change.tx, tenant, name).await.map_err(refused)?;
    }
    if let Some(disabled) = body.disabled {
        let since_ms = disabled.then_some(change.now_ms);
        tenants::set_disabled(&mut change.tx, tenant, since_ms, change.now_ms).await.map_err(refused)?;
    }
    let action = match body.disabled {
        Some(true) => "tenant_disabled",
        Some(false) => "tenant_enabled",
        None => "tenant_renamed",
    };
    change.finish(action, &id_of(tenant), KeptAnswer::gone()).await
}

/// Give a host to a tenant
///
/// Accounts, pages and reads without a key at this host are this tenant's from then on. A host belongs to one tenant: another one loses it.
#[utoipa::path(put, path = "/v1/tenants/{tenant}/hosts/{host}", tag = "tenants", responses((status = 204)))]
pub async fn put_host(caller: AccessCaller, path: PathParams) -> Result<Response, Problem> {
    let (tenant, host) = (tenant_in(&path)?, path.word(1));
    let mut change = match caller.begin(&()).await? {
        Begun::New(change) => change,
        Begun::Done(answer) => return Ok(answer),
    };
    tenants::put_host(&mut change.tx, host, tenant, change.now_ms).await.map_err(refused)?;
    change.finish("host_given", host, KeptAnswer::gone()).await
}

/// Take a host from a tenant
///
/// From then on it is the default tenant's, as every host that nobody has.
#[utoipa::path(delete, path = "/v1/tenants/{tenant}/hosts/{host}", tag = "tenants",
    responses((status = 204)))]
pub async fn remove_host(caller: AccessCaller, path: PathParams) -> Result<Response, Problem> {
    let (tenant, host) = (tenant_in(&path)?, path.word(1));
    let own = tenants::hosts_of(&caller.access.sql, tenant).await.map_err(failed)?;
    let named = tenants::host_name(host).map_err(|refusal| refused(refusal.into()))?;
    let mut change = match caller.begin(&()).await? {
        Begun::New(change) => change,
        Begun::Done(answer) => return Ok(answer),
    };
    if !own.contains(&named) {
        return Err(refused(Refusal::HostUnknown.into()));
    }
    tenants::remove_host(&mut change.tx, host, change.now_ms).await.map_err(refused)?;
    change.finish("host_taken", host, KeptAnswer::gone()).await
}
