//! Who may ask what, as people read it: `docs/roles.md`, made from the routes and from what each role and key may do.

use std::fmt::Write as _;
use std::sync::Arc;

use onsale_access::principal::{KeyHolder, KeyKind, Person, Principal, Vouched, Who};
use onsale_access::role::{Role, Roles};
use onsale_access::scope::{Scope as Permission, Scopes};
use onsale_domain::{BuyerId, Tenant};

use super::{Scope, Table};
use crate::http::gate;

/// What is said before the table.
const HEAD: &str = "# Who may ask what

Made from the table of routes by `onsale routes --roles`; not written by hand.

A route needs one of the scopes in its row. A restricted key has those that were chosen for it; all others have what is under
*Scopes* below. A publishable key may buy only with a buyer token beside it (`Onsale-Buyer-Token`), and then is that buyer. Everybody
sees only their own tenant: an id of another one is answered like an id that nobody has. A buyer sees and changes only what is
their own; `settle` allows to say in a confirmation that it was paid elsewhere.

";

/// Somebody of each kind, as a column of the table.
struct Column {
    name: &'static str,
    principal: Principal,
}

fn of(name: &'static str, who: Who, scopes: Scopes) -> Column {
    let family = Arc::from("table");
    Column { name, principal: Principal { tenant: Tenant::DEFAULT, who, scopes, family, is_test: false } }
}

fn person(role: Role) -> Column {
    let roles = Roles::BUYER.with(role);
    let user = BuyerId::parse("usr_somebody").unwrap_or_else(|| unreachable!("it is the id of a buyer"));
    let person = Person { user, session: "ses_somebody".into(), roles, is_guest: false };
    of(role.as_str(), Who::Person(person), roles.scopes())
}

fn key(name: &'static str, kind: KeyKind) -> Column {
    of(name, Who::Key(KeyHolder { key: "key_somebody".into(), kind }), kind.allowed())
}

fn columns() -> Vec<Column> {
    let buyer = BuyerId::parse("ann").unwrap_or_else(|| unreachable!("it is the id of a buyer"));
    let vouched = Vouched { buyer, key: "key_somebody".into(), listings: None };
    let vouched_for = Role::Buyer.scopes();
    let mut all = vec![
        Column { name: "nobody", principal: Principal::nobody(Tenant::DEFAULT) },
        key("publishable key", KeyKind::Publishable),
        of("buyer token", Who::Vouched(vouched), vouched_for),
        key("secret key", KeyKind::Secret),
    ];
    all.extend(Role::ALL.map(person));
    all
}

impl Table {
    pub fn roles_to_markdown(&self) -> String {
        let columns = columns();
        let mut text = HEAD.to_owned();
        text.push_str("## Scopes\n\n| who | scopes |\n|---|---|\n");
        for column in &columns {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "| {} | {} |", column.name, column.principal.scopes);
        }
        text.push_str("\n## Routes\n\n| operation | needs |");
        columns.iter().for_each(|column| text.push_str(&format!(" {} |", column.name)));
        text.push_str("\n|---|---|");
        columns.iter().for_each(|_| text.push_str("---|"));
        text.push('\n');
        for route in &self.routes {
            // What it needs unless the operator has opened it.
            let scope = if route.scope == Scope::Compat { Scope::Buy } else { route.scope };
            let needed: Vec<&str> = scope.needed().iter().map(|one: &Permission| one.as_str()).collect();
            let _ = write!(text, "| `{}` | {} |", route.operation, needed.join(" or "));
            for column in &columns {
                let may = gate::allowed(scope, &column.principal).is_ok();
                text.push_str(if may { " yes |" } else { " |" });
            }
            text.push('\n');
        }
        text
    }
}
