//! `onsale tenants`: makes, lists, renames and disables tenants, and says which hosts are theirs.

use clap::{Args as ClapArgs, Subcommand};
use onsale_access::tenants::{self, PAGE_MAX, TenantRecord};
use onsale_domain::Tenant;
use serde_json::json;

use super::access::{Offline, Where, tenant, time};

/// Make, list, rename and disable tenants, and give them hosts
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  onsale tenants create 'City Theatre'
  onsale tenants list
  onsale tenants host 1 tickets.example.org
  onsale tenants disable 1
  onsale keys create --name 'shop server' --tenant 1")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    at: Where,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a tenant
    Create {
        /// What people call it; no two have the same
        name: String,
    },
    /// Print all tenants with their hosts
    List,
    /// Give a tenant another name
    Rename {
        #[arg(value_name = "NUMBER", value_parser = tenant)]
        tenant: Tenant,
        name: String,
    },
    /// Let nobody of a tenant in, within a second
    Disable {
        #[arg(value_name = "NUMBER", value_parser = tenant)]
        tenant: Tenant,
        /// Let them in again
        #[arg(long)]
        undo: bool,
    },
    /// Make a host a tenant's: accounts, pages and reads without a key
    Host {
        #[arg(value_name = "NUMBER", value_parser = tenant)]
        tenant: Tenant,
        host: String,
        /// Take it away: then it is the default tenant's
        #[arg(long)]
        remove: bool,
    },
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    args.at.open(async |offline| match &args.verb {
        Verb::List => list(args, offline).await,
        Verb::Create { name } => {
            let mut tx = offline.sql.begin().await?;
            let made = tenants::create(&mut tx, name, offline.now_ms).await?;
            offline.note(&mut tx, made, "tenant_created", name).await?;
            tx.commit().await?;
            let number = made.number();
            let words = format!(
                "tenant {number}: {name}\n`onsale keys create --name … --tenant {number}` gives it a key"
            );
            args.at.tell(&json!({"id": format!("ten_{number}"), "name": name}), &words)
        }
        Verb::Rename { tenant, name } => {
            let mut tx = offline.sql.begin().await?;
            tenants::rename(&mut tx, *tenant, name).await?;
            offline.note(&mut tx, *tenant, "tenant_renamed", name).await?;
            tx.commit().await?;
            done(args, *tenant, &format!("is called {name}"))
        }
        Verb::Disable { tenant, undo } => {
            let since_ms = (!undo).then_some(offline.now_ms);
            let (action, words) = match undo {
                true => ("tenant_enabled", "is let in again"),
                false => ("tenant_disabled", "is disabled: nobody of it is let in"),
            };
            let mut tx = offline.sql.begin().await?;
            tenants::set_disabled(&mut tx, *tenant, since_ms, offline.now_ms).await?;
            offline.note(&mut tx, *tenant, action, "").await?;
            tx.commit().await?;
            done(args, *tenant, words)
        }
        Verb::Host { tenant, host, remove } => {
            let has_it = tenants::hosts_of(&offline.sql, *tenant).await?.contains(&tenants::host_name(host)?);
            let mut tx = offline.sql.begin().await?;
            let (action, words) = match remove {
                true if !has_it => anyhow::bail!(
                    "tenant {} does not have the host {host}; `onsale tenants list` shows who has",
                    tenant.number()
                ),
                true => {
                    tenants::remove_host(&mut tx, host, offline.now_ms).await?;
                    ("host_taken", format!("has {host} no more"))
                }
                false => {
                    tenants::put_host(&mut tx, host, *tenant, offline.now_ms).await?;
                    ("host_given", format!("has {host}"))
                }
            };
            offline.note(&mut tx, *tenant, action, host).await?;
            tx.commit().await?;
            done(args, *tenant, &words)
        }
    })
}

fn done(args: &Args, tenant: Tenant, words: &str) -> anyhow::Result<()> {
    let number = tenant.number();
    args.at.tell(&json!({"id": format!("ten_{number}"), "done": true}), &format!("tenant {number} {words}"))
}

async fn list(args: &Args, offline: &Offline) -> anyhow::Result<()> {
    let mut all: Vec<(TenantRecord, Vec<String>)> = Vec::new();
    loop {
        let after = all.last().map(|(tenant, _)| tenant.tenant);
        let page = tenants::list(&offline.sql, after, PAGE_MAX).await?;
        let is_last = page.len() < PAGE_MAX;
        for tenant in page {
            let hosts = tenants::hosts_of(&offline.sql, tenant.tenant).await?;
            all.push((tenant, hosts));
        }
        if is_last {
            break;
        }
    }
    let told = |(tenant, hosts): &(TenantRecord, Vec<String>)| {
        json!({
            "id": format!("ten_{}", tenant.tenant.number()),
            "name": tenant.name,
            "created_at": time(Some(tenant.created_ms)),
            "is_disabled": tenant.disabled_ms.is_some(),
            "hosts": hosts,
        })
    };
    let row = |(tenant, hosts): &(TenantRecord, Vec<String>)| {
        let state = if tenant.disabled_ms.is_some() { "disabled" } else { "active" };
        let number = tenant.tenant.number().to_string();
        vec![number, tenant.name.clone(), state.to_owned(), hosts.join(" "), time(Some(tenant.created_ms))]
    };
    let columns = ["number", "name", "state", "hosts", "created"];
    args.at.list(&all.iter().map(told).collect::<Vec<_>>(), &columns, all.iter().map(row))
}
