//! The book beside a listing's body: how an order's facts reach the goods, and the goods' facts the book.

use super::command::GoodsKey;
use super::fact::{OrderFact, OrderedGoods};
use super::goods::{Goods, TakeBackOutcome};
use super::state::Order;
use super::view::{OrdersFound, OrdersQuery};
use crate::fact::Fact;
use crate::id::OrderId;
use crate::listing::Listing;
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;

impl Listing {
    /// Takes a fact of an order into the book, and into the goods that it pins or takes back.
    pub(crate) fn apply_order(&mut self, fact: &OrderFact, fence: u64, at: Millis) {
        let orders = self.orders.get_or_insert_default();
        let goods = self.body.goods_mut().expect("only what sells has orders");
        if let Some((pinned, until)) = orders.pinned_by(fact) {
            goods.pin(pinned, until);
        }
        if let OrderFact::SeatsTakenBack { order } = fact
            && let Some(order) = orders.find(*order)
        {
            goods.apply_taken_back(order.as_ordered(), fence, at);
        }
        orders.apply(fact, fence, at);
    }

    /// Lets the goods write facts of their own, and counts them.
    fn in_goods<T>(
        &mut self,
        now: Millis,
        facts: &mut Vec<Fact>,
        act: impl FnOnce(&mut dyn Goods, &mut StepWriter<'_>) -> T,
    ) -> Result<T, Refusal> {
        let before = facts.len();
        let mut writer = StepWriter::new(now, self.fence(), facts);
        let goods = self.body.goods_mut().ok_or(Refusal::of(Code::WrongKind))?;
        let answer = act(goods, &mut writer);
        self.count(before, now, facts);
        Ok(answer)
    }

    pub(super) fn sold_goods(&self) -> Result<&dyn Goods, Refusal> {
        self.body.goods().ok_or(Refusal::of(Code::WrongKind))
    }

    /// When a living order's goods are over.
    pub(super) fn goods_until(&self, goods: &OrderedGoods) -> Option<Millis> {
        self.body.goods()?.until(goods)
    }

    pub(super) fn knows_order(&self, order: OrderId) -> bool {
        let booked = self.orders.as_deref().is_some_and(|orders| orders.knows(order));
        booked || self.body.goods().is_some_and(|goods| goods.knows_order(order))
    }

    /// Expires the goods, and whatever else a buyer's own command about them would.
    pub(super) fn expire_goods(
        &mut self,
        key: &GoodsKey,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) -> Result<(), Refusal> {
        self.in_goods(now, facts, |goods, writer| goods.expire(key, writer))
    }

    /// The goods say that the order has taken them.
    pub(super) fn take_goods(
        &mut self,
        order: &Order,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) -> Result<(), Refusal> {
        self.in_goods(now, facts, |goods, writer| goods.take(order.as_ordered(), writer))?
    }

    /// The goods are their buyer's again.
    pub(super) fn give_goods_back(
        &mut self,
        order: &Order,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) -> Result<(), Refusal> {
        self.in_goods(now, facts, |goods, writer| goods.give_back(order.as_ordered(), writer))?
    }

    /// The order's living goods are sold.
    pub(super) fn confirm_goods(
        &mut self,
        order: &Order,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) -> Result<(), Refusal> {
        self.in_goods(now, facts, |goods, writer| {
            goods.not_cancelled()?;
            goods.confirm(order.as_ordered(), writer)
        })?
    }

    /// Late money: all of the order's goods are sold after all, or none.
    pub(super) fn take_goods_back(&mut self, order: &Order, now: Millis, facts: &mut Vec<Fact>) -> bool {
        let taken = self.in_goods(now, facts, |goods, writer| match goods.not_cancelled() {
            Ok(()) => goods.take_back(order.as_ordered(), writer),
            Err(_) => TakeBackOutcome::Gone,
        });
        match taken {
            Ok(TakeBackOutcome::Sold) => true,
            Ok(TakeBackOutcome::Free) => {
                let fact = OrderFact::SeatsTakenBack { order: order.id };
                self.apply_all([Fact::Order(fact)], now, facts);
                true
            }
            Ok(TakeBackOutcome::Gone) | Err(_) => false,
        }
    }

    pub(crate) fn ask_orders(&self, query: &OrdersQuery) -> OrdersFound {
        let booked = match self.orders.as_deref() {
            Some(orders) => orders.ask(query, |goods| self.goods_until(goods)),
            None => match query {
                OrdersQuery::Order(_) | OrdersQuery::OfGoods(_) => OrdersFound::Nothing,
                OrdersQuery::All { .. } => OrdersFound::All(Vec::new()),
                OrdersQuery::OrdersOf { .. } => OrdersFound::Orders(Vec::new()),
                OrdersQuery::WorkAfter { .. } => OrdersFound::Work(Vec::new()),
            },
        };
        let Some(goods) = self.body.goods() else { return booked };
        let direct = |order: OrderId| match goods.direct(order) {
            Some(order) => OrdersFound::Order(Box::new(order)),
            None => OrdersFound::Nothing,
        };
        match (query, booked) {
            (OrdersQuery::Order(order), OrdersFound::Nothing) => direct(*order),
            (OrdersQuery::OfGoods(number), OrdersFound::Nothing) => {
                match goods.bought_by(*number).map(direct) {
                    Some(order) => order,
                    // Nobody has them or has bought them: who had them last.
                    None => self
                        .orders
                        .as_deref()
                        .map_or(OrdersFound::Nothing, |orders| orders.ask_let_go(*number)),
                }
            }
            (OrdersQuery::All { after, status, limit }, OrdersFound::All(mut all)) => {
                let mut buying = goods.buying(*after);
                let is_booked = |order| self.orders.as_deref().is_some_and(|orders| orders.knows(order));
                buying.retain(|(_, order)| !is_booked(*order));
                buying.sort_unstable();
                let found =
                    buying.into_iter().filter_map(|(fence, order)| Some((fence, goods.direct(order)?)));
                let wanted = found.filter(|(_, order)| status.is_none_or(|status| order.status == status));
                all.extend(wanted.take(*limit));
                all.sort_unstable_by_key(|(fence, _)| *fence);
                all.truncate(*limit);
                OrdersFound::All(all)
            }
            (_, booked) => booked,
        }
    }

    /// Whether the money of its orders adds up; see [`super::check_invariants`].
    pub(crate) fn check_orders(&self) -> Result<(), String> {
        let Some(orders) = self.orders.as_deref() else { return Ok(()) };
        super::check_invariants(orders, |goods| self.goods_until(goods))
    }
}
