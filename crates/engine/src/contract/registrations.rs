//! Tables of registrations over the port; `tables/registration.txt` says how a line reads, `words` knows the API.

mod words;

use onsale_domain::listing::BodyView;
use onsale_domain::registration::RegistrationCommand;
use onsale_domain::{Command, ListingId, ListingKind, Millis, Tenant};
use onsale_domain::{Found, Query};
use onsale_tables::{Table, cut};

use super::lines::{Player, TableLine, Words};
use super::table::ZERO;

const FILES: &[(&str, &str)] = &[("registration", include_str!("tables/registration.txt"))];

pub(super) fn all() -> Vec<Table> {
    cut(FILES)
}

pub(super) struct OfRegistrations;

impl Words for OfRegistrations {
    const LISTING: ListingId =
        ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Registration, number: 1 };
    const ZERO: Millis = ZERO;

    fn create() -> Result<Command, String> {
        Ok(Command::Registration(RegistrationCommand::Create(Box::new(words::create()?))))
    }

    fn say(player: &mut Player<'_>, said: &TableLine<'_>) -> Result<String, String> {
        match said.verb {
            "who" | "paid" => {
                let query = words::query(said.verb, said.words)?;
                let Found::Registration(found) = player.ask(Query::Registration(query))? else {
                    return Err("no answer about a registration".into());
                };
                words::found(&found)
            }
            verb => {
                let command = Command::Registration(words::command(verb, said.words)?);
                player.submit(command, said.key).map(|answer| words::told(&answer))
            }
        }
    }

    fn picture(player: &Player<'_>) -> Result<String, String> {
        let view = player.view()?;
        let BodyView::Registration(body) = &view.body else { return Err("it is no registration".into()) };
        Ok(format!("{body:?}\n{}", player.facts()?))
    }
}

/// A time of the table, from its beginning on.
fn since_zero(time: Millis) -> Millis {
    (time - ZERO) / 1_000
}
