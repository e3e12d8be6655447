//! What an order needs of a sale: the code it takes, and more time for it.

use super::Run;
use super::cancel_checkout::own_code;
use super::command::{CheckoutKey, SaleCommand};
use super::fact::SaleFact;
use super::purchase::not_cancelled;
use super::state::Sale;
use crate::id::{CheckoutId, OrderId};
use crate::order::fact::Goods;
use crate::refusal::Refusal;
use crate::time::{Millis, is_over};

impl Sale {
    /// What this key's code has reserved, as an order takes it.
    pub(crate) fn goods_of(&self, key: &CheckoutKey, now: Millis) -> Result<Goods, Refusal> {
        not_cancelled(self)?;
        let code = &self.codes[own_code(self, key, now)?];
        let (checkout, lines, placed_at) = (code.id, code.lines().to_vec(), code.placed_at);
        Ok(Goods::Checkout { checkout, lines, placed_at })
    }

    pub(crate) fn not_cancelled(&self) -> Result<(), Refusal> {
        not_cancelled(self)
    }

    /// Whoever took the code without the book has it.
    pub(crate) fn not_ordered(&self, checkout: CheckoutId) -> Result<(), Refusal> {
        self.code_index(checkout).map_or(Ok(()), |index| super::cancel_checkout::not_ordered(self, index))
    }

    pub(crate) fn code_until(&self, checkout: CheckoutId) -> Option<Millis> {
        self.code_index(checkout).map(|index| self.codes[index].until)
    }

    /// Whether this key opens a code that is not over.
    pub(crate) fn opens(&self, key: &CheckoutKey, now: Millis) -> bool {
        own_code(self, key, now).is_ok_and(|index| !is_over(self.codes[index].until, now))
    }

    pub(crate) fn knows_order(&self, order: OrderId) -> bool {
        self.purchase_of_order(order).is_some()
    }

    pub(crate) fn pin(&mut self, checkout: CheckoutId, until: Millis) {
        let index = self.code_index(checkout).expect("an order's code lives");
        self.reschedule(index, until);
    }

    /// Expires what a command would touch, and follows the sale's hours.
    pub(crate) fn expire_as_for<F: From<SaleFact>>(
        &mut self,
        command: &SaleCommand,
        now: Millis,
        fence: u64,
        facts: &mut Vec<F>,
    ) {
        let mut run = Run { sale: self, now, fence, facts };
        run.follow_schedule();
        run.expire_touched(command);
    }
}
