//! The listings that people like.

use onsale_domain::ListingId;
use onsale_domain::time::Millis;
use onsale_sql::{Query, query};

use super::Accounts;
use super::person;
use super::{Failure, Refusal};
use crate::context::Context;

static LIST: Query = query!("favourites/list");
static ADD: Query = query!("favourites/add");
static REMOVE: Query = query!("favourites/remove");
static COUNT: Query = query!("favourites/count");

/// More than anybody looks through, and the list is read at once.
pub const FAVOURITES_MAX: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Favourite {
    /// The id of an event, a sale or an auction.
    pub listing: String,
    pub created_ms: Millis,
}

impl Accounts {
    /// The newest first.
    pub async fn favourites(&self, user: &str, context: &Context<'_>) -> Result<Vec<Favourite>, Failure> {
        self.person(user, context).await?;
        let rows = self.sql.query(&LIST, &[user.into()]).await?;
        let read = |row: &onsale_sql::Row| {
            Ok(Favourite { listing: row.text(0)?.to_owned(), created_ms: row.int(1)? })
        };
        rows.iter().map(read).collect()
    }

    /// Adding one twice is fine. That the listing exists is the caller's to know; its tenant is checked here.
    pub async fn add_favourite(
        &self,
        user: &str,
        listing: &ListingId,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        if listing.tenant != context.tenant {
            let problem = "there is no such listing here";
            return Err(Refusal::Field { field: "listing", problem }.into());
        }
        let mut tx = self.sql.begin().await?;
        // The lock makes the count right: two additions at once are one after the other.
        person::lock_living(&mut tx, user, context).await?;
        let added = tx.execute(&ADD, &[user.into(), listing.text().into(), context.now_ms.into()]).await?;
        let counted = tx.query(&COUNT, &[user.into()]).await?;
        let count = counted.first().map_or(Ok(0), |row| row.int(0))?;
        if added == 1 && count > FAVOURITES_MAX as i64 {
            return Err(Refusal::FavouritesFull { most: FAVOURITES_MAX }.into());
        }
        Ok(tx.commit().await?)
    }

    /// Removing what is not there is fine.
    pub async fn remove_favourite(
        &self,
        user: &str,
        listing: &ListingId,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        let mut tx = self.sql.begin().await?;
        person::lock_living(&mut tx, user, context).await?;
        tx.execute(&REMOVE, &[user.into(), listing.text().into()]).await?;
        Ok(tx.commit().await?)
    }
}
