//! Tables of sales over the port; `tables/sale.txt` says how a line reads, `words` knows the API.

mod words;

use onsale_domain::listing::BodyView;
use onsale_domain::stock::{SaleCommand, SaleView};
use onsale_domain::{Command, ListingId, ListingKind, Millis, Tenant};
use onsale_domain::{Found, Query};
use onsale_tables::{Table, cut};

use super::lines::{Player, TableLine, Words, number};
use super::table::ZERO;

const FILES: &[(&str, &str)] = &[("sale", include_str!("tables/sale.txt"))];

pub(super) fn all() -> Vec<Table> {
    cut(FILES)
}

pub(super) struct OfSales;

impl Words for OfSales {
    const LISTING: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number: 1 };
    const ZERO: Millis = ZERO;

    fn create() -> Result<Command, String> {
        Ok(Command::Sale(SaleCommand::Create(Box::new(words::create()?))))
    }

    fn say(player: &mut Player<'_>, said: &TableLine<'_>) -> Result<String, String> {
        let command = match said.verb {
            "levels" => return Ok(words::levels(&view(player)?)),
            "ask" => {
                let Found::Sale(found) = player.ask(Query::Sale(words::query(said.words)?))? else {
                    return Err("no answer about a sale".into());
                };
                return Ok(words::found(&found));
            }
            "sweep" => {
                Command::ExpireDue { limit: said.words.first().map_or(Ok(64), |limit| number(limit))? }
            }
            verb => Command::Sale(words::command(verb, said.words)?),
        };
        player.submit(command, said.key).map(|answer| words::told(&answer))
    }

    fn picture(player: &Player<'_>) -> Result<String, String> {
        Ok(format!("{:?}\n{}", view(player)?, player.facts()?))
    }
}

fn view(player: &Player<'_>) -> Result<SaleView, String> {
    let view = player.view()?;
    let BodyView::Sale(view) = &view.body else { return Err("it is no sale".into()) };
    Ok(view.clone())
}

/// A time of the table, from its beginning on.
fn since_zero(time: Millis) -> Millis {
    (time - ZERO) / 1_000
}
