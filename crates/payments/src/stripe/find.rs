//! Finding at Stripe what we asked for and were never answered: by the key that stands in its metadata, in lists, which
//! know of it at once. (Searching does not: it is a minute behind.)

use super::client::Method;
use super::objects::{Intent, Page, Refund};
use super::{Account, read, refused};
use crate::provider::{LookUp, ProviderError};

const PAGE: usize = 100;
/// Intents made since: some thousands in the quarter of an hour that a payment has.
const PAGES_MAX: usize = 50;
/// How far Stripe's clock and ours may be apart.
const CLOCKS_S: i64 = 600;

impl Account {
    pub(super) async fn find_intent(&self, ask: &LookUp) -> Result<Option<Intent>, ProviderError> {
        let since = ask.asked_at / 1_000 - CLOCKS_S;
        let mut after: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let from = after.map_or(String::new(), |id| format!("&starting_after={id}"));
            let page: Page<Intent> = self.page(&format!("payment_intents?limit={PAGE}{from}")).await?;
            after = page.data.last().map(|intent| intent.id.clone());
            let is_over = !page.has_more || page.data.last().is_none_or(|last| last.created < since);
            let found = page.data.into_iter().find(|intent| intent.metadata.get("payment") == Some(&ask.key));
            if found.is_some() || is_over {
                return Ok(found);
            }
        }
        Err(ProviderError(format!("more than {} payments to look through", PAGES_MAX * PAGE)))
    }

    /// The refund that this key or an earlier try of it made, the one that counts first.
    pub(super) async fn find_refund(&self, intent: &str, key: &str) -> Result<Option<Refund>, ProviderError> {
        let path = format!("refunds?payment_intent={intent}&limit={PAGE}");
        let page: Page<Refund> = self.page(&path).await?;
        let refund = of_refund(key);
        let tries = page
            .data
            .into_iter()
            .filter(|one| one.metadata.get("refund").is_some_and(|known| of_refund(known) == refund));
        let failed = |one: &Refund| matches!(one.status.as_deref(), Some("failed" | "canceled"));
        Ok(tries.min_by_key(failed))
    }

    async fn page<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<Page<T>, ProviderError> {
        let reply = self.client.send(Method::Get, path, &[], None).await?;
        match reply.status {
            200 => read(&reply),
            _ => Err(refused(&reply)),
        }
    }
}

/// A refund's key without the number of its try.
fn of_refund(key: &str) -> &str {
    key.split_once("-t").map_or(key, |(refund, _)| refund)
}

#[cfg(test)]
mod tests {
    use super::of_refund;

    #[test]
    fn tries_of_one_refund_are_the_same_refund() {
        assert_eq!(of_refund("pay_x-r1"), "pay_x-r1");
        assert_eq!(of_refund("pay_x-r1-t2"), "pay_x-r1");
        assert_ne!(of_refund("pay_x-r1-t2"), of_refund("pay_x-r2-t2"));
    }
}
