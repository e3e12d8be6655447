//! A second, deliberately naive sale: a list of everything that was ever checked out, searched from the start each time.
//! It shares no code with the first, keeps no count that could be wrong, and says the same or one of them is wrong.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the model is short on purpose; what it forgets, the comparison finds"
)]

use onsale_domain::stock::command::{CheckoutKey, CreateSale, SaleCommand};
use onsale_domain::stock::details::{SaleDetails, SaleStatus};
use onsale_domain::stock::fact::{CancelCause, SaleFact, SkuCount, SkuLine};
use onsale_domain::{BuyerId, CheckoutId, Code, Millis, OrderId};

pub(crate) struct Model {
    details: SaleDetails,
    status: SaleStatus,
    /// Id, price, stock.
    skus: Vec<(String, i64, u32)>,
    things: Vec<Thing>,
    now: Millis,
}

#[derive(Clone)]
struct Thing {
    code: CheckoutId,
    buyer: BuyerId,
    lines: Vec<SkuLine>,
    placed: Millis,
    until: Millis,
    is: Is,
}

#[derive(Clone, PartialEq)]
enum Is {
    Live,
    Ordered(OrderId),
    Expired(Millis),
    Cancelled(Millis),
    Bought { order: OrderId, given_back: Vec<u32>, number: usize },
}

impl Thing {
    fn lives(&self) -> bool {
        matches!(self.is, Is::Live | Is::Ordered(_))
    }

    /// How many of a SKU are reserved or bought by this.
    fn takes(&self, sku: u16) -> u32 {
        let of = |n: usize| match &self.is {
            Is::Live | Is::Ordered(_) => self.lines[n].count,
            Is::Bought { given_back, .. } => self.lines[n].count - given_back[n],
            Is::Expired(_) | Is::Cancelled(_) => 0,
        };
        (0..self.lines.len()).filter(|n| self.lines[*n].sku == sku).map(of).sum()
    }
}

/// Yes with facts, yes without, or the code of the refusal with the SKUs it names.
#[derive(Debug, PartialEq)]
pub(crate) enum Said {
    Done,
    Nothing,
    Again(OrderId),
    No(Code, Vec<(u16, Code)>),
}

fn no<T>(code: Code) -> Result<T, Said> {
    Err(Said::No(code, Vec::new()))
}

impl Model {
    pub(crate) fn new(create: &CreateSale, now: Millis) -> Model {
        Model {
            details: create.details.clone(),
            status: SaleStatus::Scheduled,
            skus: create.skus.iter().map(|sku| (sku.id.clone(), sku.price_minor, sku.stock)).collect(),
            things: Vec::new(),
            now,
        }
    }

    fn free(&self, sku: u16) -> u32 {
        let taken: u32 = self.things.iter().map(|thing| thing.takes(sku)).sum();
        self.skus[usize::from(sku)].2 - taken
    }

    fn taken_by(&self, buyer: &BuyerId) -> u32 {
        let own = self.things.iter().filter(|thing| thing.buyer == *buyer);
        own.map(|thing| (0..self.skus.len()).map(|sku| thing.takes(sku as u16)).sum::<u32>()).sum()
    }

    /// Available, reserved and sold of each SKU.
    pub(crate) fn levels(&self) -> Vec<(u32, u32, u32)> {
        let of = |sku: u16| {
            let sum = |live: bool| {
                self.things.iter().filter(|t| t.lives() == live).map(|t| t.takes(sku)).sum::<u32>()
            };
            (self.free(sku), sum(true), sum(false))
        };
        (0..self.skus.len() as u16).map(of).collect()
    }

    /// The latest thing of this code.
    fn find(&self, code: CheckoutId) -> Option<usize> {
        self.things.iter().rposition(|thing| thing.code == code)
    }

    fn living(&self, code: CheckoutId) -> Result<usize, Said> {
        let Some(n) = self.find(code) else { return no(Code::CheckoutUnknown) };
        match &self.things[n].is {
            Is::Live | Is::Ordered(_) => Ok(n),
            Is::Bought { .. } => no(Code::CheckoutPurchased),
            Is::Expired(at) if self.now - at < 3_600_000 => no(Code::Expired),
            Is::Cancelled(at) if self.now - at < 3_600_000 => no(Code::Released),
            Is::Expired(_) | Is::Cancelled(_) => no(Code::CheckoutUnknown),
        }
    }

    fn own(&self, key: &CheckoutKey) -> Result<usize, Said> {
        let n = self.living(key.checkout)?;
        if self.things[n].buyer == key.buyer { Ok(n) } else { no(Code::NotYours) }
    }

    fn bought(&self, order: OrderId) -> Option<usize> {
        self.things
            .iter()
            .position(|thing| matches!(thing.is, Is::Bought { order: known, .. } if known == order))
    }

    /// What is over, by deadline and then by age.
    fn due(&self) -> Vec<usize> {
        let over = |n: &usize| self.things[*n].lives() && self.things[*n].until <= self.now;
        let mut due: Vec<usize> = (0..self.things.len()).filter(over).collect();
        due.sort_by_key(|n| self.things[*n].until);
        due
    }

    fn expire(&mut self, n: usize, facts: &mut Vec<SaleFact>) {
        self.things[n].is = Is::Expired(self.now);
        facts.push(SaleFact::CheckoutExpired { checkout: self.things[n].code });
    }

    fn follow_the_clock(&mut self, facts: &mut Vec<SaleFact>) {
        for (from, at, to) in [
            (SaleStatus::Scheduled, self.details.starts_at, SaleStatus::Open),
            (SaleStatus::Open, self.details.ends_at, SaleStatus::Ended),
        ] {
            if self.status == from && self.now >= at {
                self.status = to;
                facts.push(SaleFact::StatusChanged { status: to, by_schedule: true });
            }
        }
    }

    pub(crate) fn sweep(&mut self, limit: u32, clock: Millis) -> (Vec<SaleFact>, Said) {
        let before = self.now;
        self.now = clock.max(self.now);
        let mut facts = Vec::new();
        self.follow_the_clock(&mut facts);
        for _ in 0..limit.min(64) {
            if self.status == SaleStatus::Cancelled {
                if !self.take_one_back(&mut facts) {
                    break;
                }
            } else if let Some(n) = self.due().first() {
                self.expire(*n, &mut facts);
            }
        }
        if facts.is_empty() {
            self.now = before;
            return (facts, Said::Nothing);
        }
        (facts, Said::Done)
    }

    fn take_one_back(&mut self, facts: &mut Vec<SaleFact>) -> bool {
        let first = (0..self.things.len())
            .filter(|n| self.things[*n].lives())
            .min_by_key(|n| (self.things[*n].until, *n));
        if let Some(n) = first {
            self.things[n].is = Is::Cancelled(self.now);
            let (checkout, why) = (self.things[n].code, CancelCause::SaleCancelled);
            facts.push(SaleFact::CheckoutCancelled { checkout, why });
            return true;
        }
        let left = |thing: &Thing| (0..self.skus.len()).any(|sku| thing.takes(sku as u16) > 0);
        let open = (0..self.things.len()).filter(|n| left(&self.things[*n]));
        let Some(n) = open.min_by_key(|n| match self.things[*n].is {
            Is::Bought { number, .. } => number,
            _ => unreachable!("nothing lives"),
        }) else {
            return false;
        };
        let fact = self.refund(n, None, true, "sale cancelled");
        facts.push(fact);
        true
    }

    fn refund(&mut self, n: usize, wanted: Option<&[SkuCount]>, restock: bool, reason: &str) -> SaleFact {
        let thing = self.things[n].clone();
        let all = thing.lines.iter().map(|line| SkuCount { sku: line.sku, count: thing.takes(line.sku) });
        let all: Vec<SkuCount> = all.filter(|line| line.count > 0).collect();
        let lines = wanted.map_or(all, <[SkuCount]>::to_vec);
        let Is::Bought { order, mut given_back, number } = thing.is else { unreachable!("it was bought") };
        let mut amount_minor = 0;
        for away in &lines {
            let line = thing.lines.iter().position(|line| line.sku == away.sku).expect("a line of it");
            given_back[line] += away.count;
            amount_minor += thing.lines[line].price_minor * i64::from(away.count);
            self.skus[usize::from(away.sku)].2 -= if restock { 0 } else { away.count };
        }
        self.things[n].is = Is::Bought { order, given_back, number };
        SaleFact::Refunded { order, lines, amount_minor, restock, reason: reason.into() }
    }

    pub(crate) fn say(&mut self, command: &SaleCommand, clock: Millis) -> (Vec<SaleFact>, Said) {
        let before = self.now;
        self.now = clock.max(self.now);
        let mut facts = Vec::new();
        if !makes_sense(command) {
            self.now = before;
            return (facts, Said::No(Code::Invalid, Vec::new()));
        }
        self.follow_the_clock(&mut facts);
        self.expire_touched(command, &mut facts);
        let said = self.decide(command, &mut facts).err().unwrap_or(Said::Done);
        if facts.is_empty() {
            self.now = before;
        }
        (facts, said)
    }

    fn expire_touched(&mut self, command: &SaleCommand, facts: &mut Vec<SaleFact>) {
        let (buyer, code, wanted): (Option<&BuyerId>, Option<CheckoutId>, Vec<SkuCount>) = match command {
            SaleCommand::Checkout(c) if self.status == SaleStatus::Open => {
                (Some(&c.buyer), None, summed(&c.lines))
            }
            SaleCommand::Checkout(c) => (Some(&c.buyer), None, Vec::new()),
            SaleCommand::Purchase(c) => (Some(&c.key.buyer), Some(c.key.checkout), Vec::new()),
            SaleCommand::CancelCheckout(key) => (Some(&key.buyer), Some(key.checkout), Vec::new()),
            SaleCommand::OrderCheckout(c) => (Some(&c.key.buyer), Some(c.key.checkout), Vec::new()),
            SaleCommand::ReturnCheckout(c) => (None, Some(c.checkout), Vec::new()),
            SaleCommand::TakeBack(c) => {
                let lines =
                    c.lines.iter().map(|line| SkuCount { sku: line.sku, count: line.count }).collect();
                let wanted = if self.status == SaleStatus::Cancelled { Vec::new() } else { lines };
                (Some(&c.key.buyer), Some(c.key.checkout), wanted)
            }
            SaleCommand::WithdrawStock(line) => (None, None, vec![*line]),
            _ => (None, None, Vec::new()),
        };
        for n in self.due() {
            if Some(&self.things[n].buyer) == buyer {
                self.expire(n, facts);
            }
        }
        for n in self.due() {
            if Some(self.things[n].code) == code {
                self.expire(n, facts);
            }
        }
        for _ in 0..64 {
            let known = |line: &&SkuCount| usize::from(line.sku) < self.skus.len();
            let short = wanted.iter().filter(known).any(|line| self.free(line.sku) < line.count);
            match self.due().first() {
                Some(n) if short => self.expire(*n, facts),
                _ => break,
            }
        }
    }

    /// Too little of what, and why.
    fn short_of(&self, wanted: &[SkuCount]) -> Result<(), Said> {
        let why = |line: &SkuCount| {
            let reserved: u32 = self.things.iter().filter(|t| t.lives()).map(|t| t.takes(line.sku)).sum();
            match self.free(line.sku) {
                free if free >= line.count => None,
                0 if reserved > 0 => Some((line.sku, Code::SoldOutForNow)),
                0 => Some((line.sku, Code::SoldOut)),
                _ => Some((line.sku, Code::NotEnoughStock)),
            }
        };
        all_of(wanted.iter().filter_map(why).collect())
    }

    fn known(&self, skus: impl Iterator<Item = u16>) -> Result<(), Said> {
        let strange = skus.filter(|sku| usize::from(*sku) >= self.skus.len());
        all_of(strange.map(|sku| (sku, Code::SkuUnknown)).collect())
    }

    fn not_over(&self) -> Result<(), Said> {
        match self.status {
            SaleStatus::Scheduled | SaleStatus::Open => Ok(()),
            SaleStatus::Ended => no(Code::SaleClosed),
            SaleStatus::Cancelled => no(Code::SaleCancelled),
        }
    }

    fn not_cancelled(&self) -> Result<(), Said> {
        if self.status == SaleStatus::Cancelled { no(Code::SaleCancelled) } else { Ok(()) }
    }

    fn purchases(&self) -> usize {
        self.things.iter().filter(|thing| matches!(thing.is, Is::Bought { .. })).count()
    }

    fn decide(&mut self, command: &SaleCommand, facts: &mut Vec<SaleFact>) -> Result<(), Said> {
        match command {
            SaleCommand::Create(_) => return no(Code::ListingExists),
            SaleCommand::Checkout(c) => {
                match self.status {
                    SaleStatus::Open => {}
                    SaleStatus::Scheduled => return no(Code::SaleNotStarted),
                    SaleStatus::Ended => return no(Code::SaleClosed),
                    SaleStatus::Cancelled => return no(Code::SaleCancelled),
                }
                let wanted = summed(&c.lines);
                self.known(wanted.iter().map(|line| line.sku))?;
                if !matches!(self.living(c.checkout), Err(Said::No(Code::CheckoutUnknown, _))) {
                    return no(Code::IdTaken);
                }
                self.short_of(&wanted)?;
                let units: u32 = wanted.iter().map(|line| line.count).sum();
                if self.taken_by(&c.buyer) + units > self.details.rules.buyer_limit {
                    return no(Code::BuyerLimit);
                }
                let price = |line: &SkuCount| self.skus[usize::from(line.sku)].1;
                let line =
                    |line: &SkuCount| SkuLine { sku: line.sku, count: line.count, price_minor: price(line) };
                let lines: Vec<SkuLine> = wanted.iter().map(line).collect();
                let until = self.now + c.checkout_ms.unwrap_or(self.details.rules.checkout_ms);
                let (code, buyer) = (c.checkout, c.buyer.clone());
                facts.push(SaleFact::CheckedOut { checkout: code, buyer, lines: lines.clone(), until });
                let (buyer, placed) = (c.buyer.clone(), self.now);
                self.things.push(Thing { code, buyer, lines, placed, until, is: Is::Live });
            }
            SaleCommand::CancelCheckout(key) => {
                let n = self.own(key)?;
                if self.things[n].is != Is::Live {
                    return no(Code::CheckoutOrdered);
                }
                self.things[n].is = Is::Cancelled(self.now);
                let why = CancelCause::Buyer;
                facts.push(SaleFact::CheckoutCancelled { checkout: key.checkout, why });
            }
            SaleCommand::OrderCheckout(c) => {
                self.not_cancelled()?;
                let n = self.own(&c.key)?;
                match &self.things[n].is {
                    Is::Ordered(order) if *order == c.order => return Err(Said::Nothing),
                    Is::Ordered(_) => return no(Code::CheckoutOrdered),
                    _ if self.bought(c.order).is_some() => return no(Code::IdTaken),
                    _ => {}
                }
                let latest = self.things[n].placed + 15 * 60_000;
                let until = self.things[n].until.max(c.pay_until.min(latest));
                self.things[n].is = Is::Ordered(c.order);
                self.things[n].until = until;
                facts.push(SaleFact::CheckoutOrdered { checkout: c.key.checkout, order: c.order, until });
            }
            SaleCommand::ReturnCheckout(c) => {
                let n = self.living(c.checkout)?;
                if self.things[n].is != Is::Ordered(c.order) {
                    return no(Code::OrderUnknown);
                }
                let latest = self.things[n].placed + 15 * 60_000;
                let until = self.things[n].until.max((self.now + 60_000).min(latest));
                self.things[n].is = Is::Live;
                self.things[n].until = until;
                facts.push(SaleFact::CheckoutReturned { checkout: c.checkout, until });
            }
            SaleCommand::Purchase(c) => {
                if let Some(n) = self.find(c.key.checkout)
                    && let Is::Bought { order, .. } = self.things[n].is
                {
                    let own = self.things[n].buyer == c.key.buyer;
                    return if own { Err(Said::Again(order)) } else { no(Code::NotYours) };
                }
                self.not_cancelled()?;
                let n = self.own(&c.key)?;
                let total: i64 =
                    self.things[n].lines.iter().map(|line| line.price_minor * i64::from(line.count)).sum();
                match self.things[n].is {
                    Is::Ordered(order) if order != c.order || !c.settled => return no(Code::CheckoutOrdered),
                    _ if total > 0 && !c.settled => return no(Code::PaymentRequired),
                    _ if self.bought(c.order).is_some() => return no(Code::IdTaken),
                    _ => {}
                }
                let (given_back, number) = (vec![0; self.things[n].lines.len()], self.purchases());
                self.things[n].is = Is::Bought { order: c.order, given_back, number };
                facts.push(SaleFact::Purchased { checkout: c.key.checkout, order: c.order });
            }
            SaleCommand::TakeBack(c) => {
                let found = self.find(c.key.checkout).map(|n| self.things[n].is.clone());
                if let Some(Is::Bought { order, .. }) = found {
                    return if order == c.order {
                        Err(Said::Again(order))
                    } else {
                        no(Code::CheckoutPurchased)
                    };
                }
                self.not_cancelled()?;
                if matches!(found, Some(Is::Live | Is::Ordered(_))) || self.bought(c.order).is_some() {
                    return no(Code::IdTaken);
                }
                self.known(c.lines.iter().map(|line| line.sku))?;
                let wanted: Vec<_> =
                    c.lines.iter().map(|line| SkuCount { sku: line.sku, count: line.count }).collect();
                self.short_of(&wanted)?;
                let (checkout, order, buyer) = (c.key.checkout, c.order, c.key.buyer.clone());
                facts.push(SaleFact::TakenBack { checkout, order, buyer, lines: c.lines.clone() });
                let is = Is::Bought { order, given_back: vec![0; c.lines.len()], number: self.purchases() };
                let (buyer, lines, at) = (c.key.buyer.clone(), c.lines.clone(), self.now);
                self.things.push(Thing { code: checkout, buyer, lines, placed: at, until: at, is });
            }
            SaleCommand::Refund(c) => {
                let Some(n) = self.bought(c.order) else { return no(Code::OrderUnknown) };
                let thing = self.things[n].clone();
                if (0..self.skus.len()).all(|sku| thing.takes(sku as u16) == 0) {
                    return no(Code::NotRefundable);
                }
                let too_many = c.lines.iter().filter(|away| thing.takes(away.sku) < away.count);
                all_of(too_many.map(|away| (away.sku, Code::NotRefundable)).collect())?;
                let wanted = (!c.lines.is_empty()).then_some(c.lines.as_slice());
                let fact = self.refund(n, wanted, c.restock, &c.reason);
                facts.push(fact);
            }
            SaleCommand::AddStock(line) => {
                self.not_over()?;
                self.known([line.sku].into_iter())?;
                self.skus[usize::from(line.sku)].2 += line.count;
                facts.push(SaleFact::StockAdded { sku: line.sku, count: line.count });
            }
            SaleCommand::WithdrawStock(line) => {
                self.not_over()?;
                self.known([line.sku].into_iter())?;
                if self.free(line.sku) < line.count {
                    return all_of(vec![(line.sku, Code::NotEnoughStock)]);
                }
                self.skus[usize::from(line.sku)].2 -= line.count;
                facts.push(SaleFact::StockWithdrawn { sku: line.sku, count: line.count });
            }
            SaleCommand::ChangePrice { sku, price_minor } => {
                self.not_over()?;
                self.known([*sku].into_iter())?;
                if self.skus[usize::from(*sku)].1 == *price_minor {
                    return Err(Said::Nothing);
                }
                self.skus[usize::from(*sku)].1 = *price_minor;
                facts.push(SaleFact::PriceChanged { sku: *sku, price_minor: *price_minor });
            }
            SaleCommand::AddSku(sku) => {
                self.not_over()?;
                if self.skus.iter().any(|known| known.0 == sku.id) {
                    return no(Code::Invalid);
                }
                self.skus.push((sku.id.clone(), sku.price_minor, sku.stock));
                facts.push(SaleFact::SkuAdded(sku.clone()));
            }
            SaleCommand::Change(c) => {
                self.not_over()?;
                let mut details = self.details.clone();
                details.rules.buyer_limit = c.buyer_limit.unwrap_or(details.rules.buyer_limit);
                details.ends_at = c.ends_at.unwrap_or(details.ends_at);
                if details.ends_at != self.details.ends_at
                    && (details.ends_at <= self.now || details.ends_at <= details.starts_at)
                {
                    return no(Code::Invalid);
                }
                if details == self.details {
                    return Err(Said::Nothing);
                }
                self.details = details.clone();
                facts.push(SaleFact::Changed(Box::new(details)));
            }
            SaleCommand::Close | SaleCommand::Cancel => {
                let to =
                    if *command == SaleCommand::Close { SaleStatus::Ended } else { SaleStatus::Cancelled };
                if self.status == to {
                    return Err(Said::Nothing);
                }
                self.not_cancelled()?;
                self.status = to;
                facts.push(SaleFact::StatusChanged { status: to, by_schedule: false });
            }
        }
        Ok(())
    }
}

/// A refusal that names SKUs, by the code that weighs most.
fn all_of(skus: Vec<(u16, Code)>) -> Result<(), Said> {
    let weight =
        [Code::SoldOut, Code::SoldOutForNow, Code::NotEnoughStock, Code::SkuUnknown, Code::NotRefundable];
    let first = weight.into_iter().find(|code| skus.iter().any(|(_, known)| known == code));
    first.map_or(Ok(()), |code| Err(Said::No(code, skus)))
}

fn summed(lines: &[SkuCount]) -> Vec<SkuCount> {
    let mut order: Vec<u16> = Vec::new();
    lines.iter().for_each(|line| {
        if !order.contains(&line.sku) {
            order.push(line.sku);
        }
    });
    let sum = |sku: u16| lines.iter().filter(|line| line.sku == sku).map(|line| line.count).sum();
    order.into_iter().map(|sku| SkuCount { sku, count: sum(sku) }).collect()
}

fn makes_sense(command: &SaleCommand) -> bool {
    match command {
        SaleCommand::Checkout(c) => !c.lines.is_empty() && c.lines.iter().all(|line| line.count > 0),
        SaleCommand::TakeBack(c) => !c.lines.is_empty() && summed_is_same(&c.lines),
        SaleCommand::AddStock(line) | SaleCommand::WithdrawStock(line) => line.count > 0,
        SaleCommand::Refund(c) => c.lines.len() == summed(&c.lines).len(),
        _ => true,
    }
}

fn summed_is_same(lines: &[SkuLine]) -> bool {
    (0..lines.len()).all(|n| lines[..n].iter().all(|before| before.sku != lines[n].sku))
}
