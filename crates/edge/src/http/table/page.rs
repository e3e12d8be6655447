//! The table as people read it: `docs/routes.md`.

use std::fmt::Write as _;

use super::{Table, statuses};

impl Table {
    pub fn to_markdown(&self) -> String {
        let always: Vec<String> = statuses::ALWAYS.iter().map(u16::to_string).collect();
        let mut text = format!(
            "# Routes\n\nMade from the table of routes by `onsale routes`; not written by hand. Every route may also answer {}.\n\n\
             | method | path | operation | scope | rate | key heeded | statuses |\n|---|---|---|---|---|---|---|\n",
            always.join(", ")
        );
        for route in &self.routes {
            let (scope, rate) = (route.scope.as_str(), format!("{:?}", route.rate));
            let keyed = if route.keyed { "yes" } else { "" };
            let own = route.statuses.iter().filter(|status| !statuses::ALWAYS.contains(status));
            let own: Vec<String> = own.map(u16::to_string).collect();
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                text,
                "| {} | `{}` | `{}` | {} | {} | {keyed} | {} |",
                route.method,
                route.path,
                route.operation,
                scope,
                rate.to_lowercase(),
                own.join(" ")
            );
        }
        text
    }
}
