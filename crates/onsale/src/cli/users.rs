//! `onsale users`: lists people, makes accounts, gives and takes roles, disables, with or without a running server.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context as _, bail};
use clap::{Args as ClapArgs, Subcommand};
use onsale_access::accounts::{Account, Accounts};
use onsale_access::context::Context;
use onsale_access::passwords::Passwords;
use onsale_access::role::{Role, Roles};
use onsale_access::secrets::OneTimeTokens;
use onsale_domain::Tenant;
use serde_json::{Value, json};

use super::access::{BY, Offline, Where, tenant, time};

/// Rows that are read at once.
const PAGE: u32 = 200;

/// List people, make accounts, give roles, disable
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  onsale users add ann@example.org --role admin < password.txt
  onsale users list
  onsale users roles usr_5m2k9x0c7q4h8w1t --give box_office --take seller
  onsale users disable usr_5m2k9x0c7q4h8w1t")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
    /// The tenant whose people these are
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = tenant, global = true)]
    tenant: Tenant,
    #[command(flatten)]
    at: Where,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print all accounts
    List,
    /// Make an account; its password is the first line of standard input
    Add {
        email: String,
        /// What they are besides a buyer, once for each
        #[arg(long = "role", value_name = "ROLE", value_parser = role)]
        roles: Vec<Role>,
    },
    /// Give and take roles; without either, print them
    Roles {
        /// The person's id or e-mail address
        user: String,
        #[arg(long, value_name = "ROLE", value_parser = role)]
        give: Vec<Role>,
        #[arg(long, value_name = "ROLE", value_parser = role)]
        take: Vec<Role>,
    },
    /// End all of a person's sessions, and let them begin none
    Disable {
        /// The person's id or e-mail address
        user: String,
        /// Let them in again
        #[arg(long)]
        undo: bool,
    },
}

fn role(text: &str) -> Result<Role, String> {
    let all = || Role::ALL.map(Role::as_str).join(", ");
    Role::parse(text).ok_or_else(|| format!("the roles are {}", all()))
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    args.at.open(async |offline| {
        let tenant = offline.known(args.tenant).await?;
        let context = Context { tenant, address: "", request_id: "", now_ms: offline.now_ms, once: None };
        let accounts = accounts(offline)?;
        match &args.verb {
            Verb::List => list(args, &accounts, &context).await,
            Verb::Add { email, roles } => {
                let roles = roles.iter().fold(Roles::BUYER, |all, role| all.with(*role));
                let password = password()?;
                let user = accounts.add(email, &password, roles, &context).await?;
                let told = json!({"id": user, "email": email, "roles": names(roles)});
                args.at.tell(&told, &format!("{user} {email}: {roles}"))
            }
            Verb::Roles { user, give, take } => {
                let account = find(&accounts, user, &context).await?;
                let mut roles = account.roles;
                for role in give {
                    roles = accounts.give_role(&account.user, *role, BY, &context).await?;
                }
                for role in take {
                    roles = accounts.take_role(&account.user, *role, BY, &context).await?;
                }
                let told = json!({"id": account.user, "roles": names(roles)});
                args.at.tell(&told, &format!("{}: {roles}", account.user))
            }
            Verb::Disable { user, undo } => {
                let user = find(&accounts, user, &context).await?.user;
                let words = match undo {
                    true => {
                        accounts.enable(&user, BY, &context).await?;
                        "may sign in again"
                    }
                    false => {
                        accounts.disable(&user, BY, &context).await?;
                        "is signed out everywhere, and signs in nowhere"
                    }
                };
                args.at.tell(&json!({"id": user, "is_disabled": !undo}), &format!("{user} {words}"))
            }
        }
    })
}

fn accounts(offline: &Offline) -> anyhow::Result<Accounts> {
    let passwords = Passwords::start(offline.settings.cost, offline.settings.pool)?;
    // No command here sends a letter, so none makes a token that a server must know.
    let tokens = OneTimeTokens::new(&[]);
    Ok(Accounts::new(offline.sql.clone(), passwords, tokens, offline.settings.sessions))
}

async fn find(accounts: &Accounts, user: &str, context: &Context<'_>) -> anyhow::Result<Account> {
    let found = match user.contains('@') {
        true => accounts.find_by_email(user, context).await,
        false => accounts.find(user, context).await,
    };
    found.with_context(|| format!("looking for {user}; `onsale users list` shows all"))
}

/// Never an argument: those stand in the list of processes and in the shell's history.
fn password() -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        write!(std::io::stderr(), "Password (it is shown as you type): ")?;
    }
    let mut line = String::new();
    stdin.lock().read_line(&mut line).context("reading the password from standard input")?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        bail!(
            "no password: write it as the first line of standard input, as in `onsale users add … < password.txt`"
        );
    }
    Ok(password.to_owned())
}

fn names(roles: Roles) -> Vec<&'static str> {
    roles.iter().map(Role::as_str).collect()
}

async fn list(args: &Args, accounts: &Accounts, context: &Context<'_>) -> anyhow::Result<()> {
    let mut all: Vec<Account> = Vec::new();
    loop {
        let after = all.last().map(|account| account.user.clone()).unwrap_or_default();
        let page = accounts.list(&after, PAGE, context).await?;
        let is_last = page.len() < PAGE as usize;
        all.extend(page);
        if is_last {
            break;
        }
    }
    let told = |account: &Account| -> Value {
        json!({
            "id": account.user,
            "email": account.email,
            "roles": names(account.roles),
            "state": account.state.as_str(),
            "created_at": time(Some(account.created_ms)),
        })
    };
    let row = |account: &Account| {
        vec![
            account.user.clone(),
            account.email.clone().unwrap_or_default(),
            account.roles.to_string(),
            account.state.as_str().to_owned(),
            time(Some(account.created_ms)),
        ]
    };
    let columns = ["id", "e-mail", "roles", "state", "created"];
    args.at.list(&all.iter().map(told).collect::<Vec<_>>(), &columns, all.iter().map(row))
}
