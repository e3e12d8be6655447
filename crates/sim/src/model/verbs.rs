//! The verbs of an event in the model, each a plain reading of its paragraph in the rules.

use onsale_domain::ended::End;
use onsale_domain::event::EventStatus;
use onsale_domain::refusal::{Detail, InTheWay, Refusal};
use onsale_domain::seats::EventFact;
use onsale_domain::seats::Status;
use onsale_domain::seats::command::{
    AdoptChart, BlockSeats, ChangeEvent, ConfirmHold, DropSeats, ExtendHold, GrowHold, HoldKey, JoinQueue,
    LeaveQueue, OverrideHold, Pick, PlaceHold, RefundOrder, UnblockSeats,
};
use onsale_domain::seats::fact::{
    AreaCount, AreaLine, ChartAdopted, HoldAfter, NewHolder, ReleaseCause, SeatLine,
};
use onsale_domain::{BuyerId, Code, HoldId, Millis, Outcome};

use super::check::{self, invalid, named_field};
use super::decide::Verdict;
use super::expire::refund_all;
use super::{Event, Hold, add_places, by_area, price, size, take_latest};

type Decision = Result<Verdict, Refusal>;

fn no<T>(code: Code) -> Result<T, Refusal> {
    Err(Refusal::of(code))
}

/// A refusal with everything in the way; the gravest code is its own.
fn blocked_by(all: Vec<InTheWay>) -> Result<(), Refusal> {
    let Some(code) = all.iter().map(|one| one.code()).min() else { return Ok(()) };
    Err(Refusal { code, in_the_way: all, detail: Detail::None })
}

fn after(hold: &Hold) -> HoldAfter {
    HoldAfter {
        buyer: hold.buyer.clone(),
        placed_at: hold.placed_at,
        until: hold.until,
        extensions: hold.extensions,
        offered: hold.offered,
        seats: hold.seats.clone(),
        areas: hold.areas.clone(),
    }
}

impl Event {
    fn on_sale(&self) -> Result<(), Refusal> {
        match self.status {
            EventStatus::OnSale => Ok(()),
            EventStatus::Draft | EventStatus::Scheduled | EventStatus::Postponed => no(Code::SaleNotStarted),
            EventStatus::Closed | EventStatus::Completed => no(Code::SaleClosed),
            EventStatus::Cancelled => no(Code::EventCancelled),
        }
    }

    fn not_cancelled(&self) -> Result<(), Refusal> {
        if self.status == EventStatus::Cancelled { no(Code::EventCancelled) } else { Ok(()) }
    }

    fn is_final(&self) -> bool {
        matches!(self.status, EventStatus::Completed | EventStatus::Cancelled)
    }

    fn known_seats(&self, seats: &[u32]) -> Result<(), Refusal> {
        let unknown = seats.iter().filter(|seat| !self.chart.seats.contains_key(seat));
        blocked_by(unknown.map(|seat| InTheWay::Seat(*seat, Code::SeatUnknown)).collect())
    }

    fn area_exists(&self, area: u16) -> bool {
        self.chart.areas.get(usize::from(area)).is_some_and(|area| !area.retired)
    }

    fn knows(&self, id: HoldId, now: Millis) -> bool {
        self.holds.contains_key(&id)
            || self.places.iter().any(|place| place.id == id)
            || self.ended.get(&id).is_some_and(|(_, at)| now - at < 3_600_000)
    }

    pub fn place_hold(&self, command: &PlaceHold, now: Millis) -> Decision {
        if let Err(closed) = self.on_sale() {
            // What the buyer holds may be finished after the close, so it is still told to be theirs.
            let Pick::Seats(seats) = &command.pick else { return Err(closed) };
            if self.status == EventStatus::Cancelled || self.known_seats(seats).is_err() {
                return Err(closed);
            }
            let mine = self.exactly_mine(command, seats).ok_or(closed)?;
            return Ok(Verdict::Outcome(Outcome::AlreadyYours(Box::new(mine.state()))));
        }
        let length = command.hold_ms.unwrap_or(self.details.rules.hold_ms);
        let (seats, pieces) = match &command.pick {
            Pick::Seats(seats) => {
                self.known_seats(seats)?;
                (seats.clone(), 0)
            }
            Pick::Best(wish) => self.best(wish).ok_or(Refusal::of(Code::NotEnoughSeats))?,
        };
        if let Some(n) = command.areas.iter().position(|line| !self.area_exists(line.area)) {
            let detail = Refusal::invalid(named_field(&format!("areas[{n}].area")), "").detail;
            return Err(Refusal { detail, ..Refusal::of(Code::AreaUnknown) });
        }
        if let Some(hold) = self.exactly_mine(command, &seats) {
            return Ok(Verdict::Outcome(Outcome::AlreadyYours(Box::new(hold.state()))));
        }
        if self.knows(command.hold, now) {
            return no(Code::IdTaken);
        }
        self.may_have(&command.buyer, &seats, &command.areas)?;
        if self.details.rules.refuse_single_seats
            && matches!(command.pick, Pick::Seats(_))
            && let Some(single) = self.single_left_by(&seats)
        {
            return Err(Refusal::seat(single, Code::LeavesSingleSeat));
        }
        let (seats, areas) = self.priced(&seats, &command.areas);
        let (hold, buyer, until) = (command.hold, command.buyer.clone(), now + length);
        Ok(Verdict::Fact(EventFact::HoldPlaced { hold, buyer, seats, areas, until, pieces }))
    }

    fn may_have(&self, buyer: &BuyerId, seats: &[u32], areas: &[AreaCount]) -> Result<(), Refusal> {
        let mut way = Vec::new();
        for seat in seats {
            let code = match self.status_of(*seat) {
                Status::Available => continue,
                Status::Sold => Code::SeatSold,
                Status::Blocked => Code::SeatBlocked,
                Status::Held if self.holder(*seat).is_some_and(|hold| hold.buyer == *buyer) => {
                    Code::AlreadyYours
                }
                Status::Held => Code::SeatHeld,
            };
            way.push(InTheWay::Seat(*seat, code));
        }
        let full = areas.iter().filter(|line| self.area_free(line.area) < line.count);
        way.extend(full.map(|line| InTheWay::Area(line.area, Code::AreaFull)));
        blocked_by(way)?;
        let (limit, taken) = (self.details.rules.buyer_limit, self.taken(buyer));
        let asked = seats.len() as u32 + areas.iter().map(|line| line.count).sum::<u32>();
        if taken + asked > limit { Err(Refusal::limit(Code::BuyerLimit, limit, taken)) } else { Ok(()) }
    }

    fn priced(&self, seats: &[u32], areas: &[AreaCount]) -> (Vec<SeatLine>, Vec<AreaLine>) {
        let of_area = |area: u16| self.price(self.chart.areas[usize::from(area)].tier);
        let seats = seats.iter().map(|seat| SeatLine { seat: *seat, price_minor: self.seat_price(*seat) });
        let areas = areas.iter().map(|line| {
            let AreaCount { area, count } = *line;
            AreaLine { area, count, price_minor: of_area(area) }
        });
        (seats.collect(), areas.collect())
    }

    pub fn grow(&self, command: &GrowHold, now: Millis) -> Decision {
        self.not_cancelled()?;
        let hold = self.opened_by(&command.key, now)?;
        let mut more = command.seats.clone();
        more.retain(|seat| self.holder(*seat).is_none_or(|holder| holder.id != hold.id));
        if more.is_empty() && command.areas.is_empty() {
            return Ok(Verdict::Outcome(Outcome::AlreadyYours(Box::new(hold.state()))));
        }
        self.on_sale()?;
        self.known_seats(&more)?;
        if let Some(n) = command.areas.iter().position(|line| !self.area_exists(line.area)) {
            let detail = Refusal::invalid(named_field(&format!("added.areas[{n}]")), "").detail;
            return Err(Refusal { detail, ..Refusal::of(Code::AreaUnknown) });
        }
        let places: u32 = command.areas.iter().map(|line| line.count).sum();
        if hold.size() + more.len() as u32 + places > 20 {
            return invalid("added.seats");
        }
        self.may_have(&hold.buyer, &more, &command.areas)?;
        if self.details.rules.refuse_single_seats
            && let Some(single) = self.single_left_by(&more)
        {
            return Err(Refusal::seat(single, Code::LeavesSingleSeat));
        }
        let (seats, areas) = self.priced(&more, &command.areas);
        let mut after = after(hold);
        after.seats.extend(&seats);
        add_places(&mut after.areas, &areas);
        let (hold, buyer) = (hold.id, hold.buyer.clone());
        Ok(Verdict::Fact(EventFact::HoldGrown { hold, buyer, seats, areas, after: Box::new(after) }))
    }

    fn exactly_mine(&self, command: &PlaceHold, seats: &[u32]) -> Option<&Hold> {
        let hold = self.holder(*seats.first()?).filter(|hold| hold.buyer == command.buyer)?;
        let mut mine: Vec<u32> = hold.seats.iter().map(|line| line.seat).collect();
        let mut asked = seats.to_vec();
        mine.sort_unstable();
        asked.sort_unstable();
        let wanted = command.areas.iter().map(|line| (line.area, line.count)).collect();
        (mine == asked && by_area(&hold.areas) == wanted).then_some(hold)
    }

    fn living(&self, id: HoldId, now: Millis) -> Result<&Hold, Refusal> {
        if let Some(hold) = self.holds.get(&id) {
            return Ok(hold);
        }
        match self.ended.get(&id).filter(|(_, at)| now - at < 3_600_000) {
            None => no(Code::HoldUnknown),
            Some((End::Expired, _)) => no(Code::Expired),
            Some((End::Overridden, _)) => no(Code::Overridden),
            Some((End::Confirmed, _)) => no(Code::HoldConfirmed),
            Some((End::Released | End::Dissolved | End::OverLimit, _)) => no(Code::Released),
        }
    }

    fn opened_by(&self, key: &HoldKey, now: Millis) -> Result<&Hold, Refusal> {
        let hold = self.living(key.hold, now)?;
        if hold.fence == key.fence { Ok(hold) } else { no(Code::StaleFence) }
    }

    pub fn extend(&self, command: &ExtendHold, now: Millis) -> Decision {
        self.not_cancelled()?;
        let hold = self.opened_by(&command.key, now)?;
        let rules = &self.details.rules;
        if hold.extensions >= rules.extensions_max {
            let (most, used) = (rules.extensions_max.into(), hold.extensions.into());
            return Err(Refusal::limit(Code::ExtensionsUsed, most, used));
        }
        let extension = command.extension_ms.or(rules.extension_ms).unwrap_or(hold.length);
        let cap = hold.placed_at + (2 * hold.length).max(300_000);
        let until = (hold.until + extension).min(cap);
        if until > hold.until {
            let after = HoldAfter { until, extensions: hold.extensions + 1, ..after(hold) };
            Ok(Verdict::Fact(EventFact::HoldExtended { hold: hold.id, until, after: Box::new(after) }))
        } else {
            no(Code::ExtensionCap)
        }
    }

    pub fn release(&self, key: &HoldKey, now: Millis) -> Decision {
        let hold = self.opened_by(key, now)?.id;
        Ok(Verdict::Fact(EventFact::HoldReleased { hold, why: ReleaseCause::Buyer }))
    }

    pub fn drop_seats(&self, command: &DropSeats, now: Millis) -> Decision {
        self.not_cancelled()?;
        let hold = self.opened_by(&command.key, now)?;
        let mine = |seat: &u32| hold.seats.iter().any(|line| line.seat == *seat);
        let foreign = command.seats.iter().filter(|seat| !mine(seat));
        let mut way: Vec<_> = foreign.map(|seat| InTheWay::Seat(*seat, Code::SeatNotInHold)).collect();
        for away in &command.areas {
            if by_area(&hold.areas).get(&away.area).is_none_or(|held| *held < away.count) {
                way.push(InTheWay::Area(away.area, Code::SeatNotInHold));
            }
        }
        blocked_by(way)?;
        let places: u32 = command.areas.iter().map(|away| away.count).sum();
        if command.seats.len() as u32 + places == hold.size() {
            return invalid("dropped.seats");
        }
        let (seats, areas) = (command.seats.clone(), command.areas.clone());
        let mut after = after(hold);
        after.seats.retain(|line| !seats.contains(&line.seat));
        for away in &areas {
            take_latest(&mut after.areas, away.area, away.count).expect("what goes was there");
        }
        Ok(Verdict::Fact(EventFact::SeatsDropped { hold: hold.id, seats, areas, after: Box::new(after) }))
    }

    pub fn confirm(&self, command: &ConfirmHold, now: Millis) -> Decision {
        let key = &command.key;
        let bought = self.orders.get(&command.order);
        let bought = bought.filter(|order| order.hold == key.hold && order.buyer == key.buyer);
        // As long as the hold is remembered.
        if let (Some(order), Err(Refusal { code: Code::HoldConfirmed, .. })) =
            (bought, self.living(key.hold, now))
        {
            return Ok(Verdict::Outcome(Outcome::AlreadyConfirmed(Box::new(order.state(command.order)))));
        }
        self.not_cancelled()?;
        let hold = self.opened_by(key, now)?;
        if !command.settled && price(&hold.seats, &hold.areas) > 0 {
            return no(Code::PaymentRequired);
        }
        let hold = hold.id;
        if self.orders.contains_key(&command.order) {
            return Err(Refusal { detail: Detail::Order(command.order), ..Refusal::of(Code::IdTaken) });
        }
        Ok(Verdict::Fact(EventFact::HoldConfirmed { hold, order: command.order }))
    }

    pub fn override_hold(&self, command: &OverrideHold, now: Millis) -> Decision {
        if command.to.is_some() {
            self.not_cancelled()?;
        }
        self.living(command.hold, now)?;
        let mut to = None;
        if let Some((buyer, length)) = &command.to {
            let length = length.unwrap_or(self.details.rules.hold_ms);
            to = Some(NewHolder { buyer: buyer.clone(), until: now + length });
        }
        let reason = command.reason.clone();
        Ok(Verdict::Fact(EventFact::HoldOverridden { hold: command.hold, reason, to }))
    }

    pub fn refund(&self, command: &RefundOrder) -> Decision {
        let Some(order) = self.orders.get(&command.order) else { return no(Code::OrderUnknown) };
        if size(&order.seats, &order.areas) == 0 {
            return no(Code::NotRefundable);
        }
        if command.seats.is_empty() && command.areas.is_empty() {
            return Ok(Verdict::Fact(refund_all(command.order, order, &command.reason)));
        }
        let (mut way, mut amount_minor) = (Vec::new(), 0);
        for seat in &command.seats {
            match order.seats.iter().find(|line| line.seat == *seat) {
                Some(line) => amount_minor += line.price_minor,
                None => way.push(InTheWay::Seat(*seat, Code::NotRefundable)),
            }
        }
        for away in &command.areas {
            match take_latest(&mut order.areas.clone(), away.area, away.count) {
                Some(price_minor) => amount_minor += price_minor,
                None => way.push(InTheWay::Area(away.area, Code::NotRefundable)),
            }
        }
        blocked_by(way)?;
        let (seats, areas, reason) = (command.seats.clone(), command.areas.clone(), command.reason.clone());
        Ok(Verdict::Fact(EventFact::OrderRefunded {
            order: command.order,
            seats,
            areas,
            amount_minor,
            reason,
        }))
    }

    pub fn block(&self, command: &BlockSeats) -> Decision {
        self.blockable(&command.seats, &command.areas)?;
        let full = command.areas.iter().filter(|line| self.area_free(line.area) < line.count);
        blocked_by(full.map(|line| InTheWay::Area(line.area, Code::AreaFull)).collect())?;
        let seats = self.switched(&command.seats, true);
        if seats.is_empty() && command.areas.is_empty() {
            return Ok(Verdict::Outcome(Outcome::Unchanged));
        }
        let (areas, reason) = (command.areas.clone(), command.reason.clone());
        Ok(Verdict::Fact(EventFact::SeatsBlocked { seats, areas, reason }))
    }

    pub fn unblock(&self, command: &UnblockSeats) -> Decision {
        self.blockable(&command.seats, &command.areas)?;
        let too_many =
            |line: &onsale_domain::seats::fact::AreaCount| self.area_use(line.area)[2] < line.count;
        if let Some(n) = command.areas.iter().position(too_many) {
            return invalid(format!("areas[{n}].count"));
        }
        let seats = self.switched(&command.seats, false);
        if seats.is_empty() && command.areas.is_empty() {
            return Ok(Verdict::Outcome(Outcome::Unchanged));
        }
        Ok(Verdict::Fact(EventFact::SeatsUnblocked { seats, areas: command.areas.clone() }))
    }

    fn blockable(
        &self,
        seats: &[u32],
        areas: &[onsale_domain::seats::fact::AreaCount],
    ) -> Result<(), Refusal> {
        self.known_seats(seats)?;
        if areas.iter().any(|line| !self.area_exists(line.area)) {
            return no(Code::AreaUnknown);
        }
        Ok(())
    }

    fn switched(&self, seats: &[u32], to: bool) -> Vec<u32> {
        let all: std::collections::BTreeSet<u32> = seats.iter().copied().collect();
        all.into_iter().filter(|seat| self.blocked.contains(seat) != to).collect()
    }

    pub fn join(&self, command: &JoinQueue, now: Millis) -> Decision {
        let seat = command.seat;
        self.on_sale()?;
        self.known_seats(&[seat])?;
        if let Some(place) = self.place_of(seat, &command.buyer, now) {
            if place.until - now > 150_000 {
                return Ok(Verdict::Outcome(Outcome::StillQueued(Box::new(place))));
            }
            let (until, ahead) = (now + 300_000, place.ahead);
            return Ok(Verdict::Fact(EventFact::PlaceRenewed { place: place.place, until, ahead }));
        }
        let code = match self.status_of(seat) {
            Status::Available => Some(Code::SeatAvailable),
            Status::Sold => Some(Code::SeatSold),
            Status::Blocked => Some(Code::SeatBlocked),
            Status::Held => {
                let mine = self.holder(seat).is_some_and(|hold| hold.buyer == command.buyer);
                mine.then_some(Code::AlreadyYours)
            }
        };
        if let Some(code) = code {
            return Err(Refusal::seat(seat, code));
        }
        let waiting = self.places.iter().filter(|place| place.seat == seat).count() as u32;
        if waiting >= 100 {
            return Err(Refusal::limit(Code::QueueFull, 100, waiting));
        }
        let living = self.places.iter().filter(|place| place.buyer == command.buyer && now < place.until);
        let places = living.count() as u32;
        if places >= 20 {
            return Err(Refusal::limit(Code::QueueLimit, 20, places));
        }
        if self.knows(command.place, now) {
            return no(Code::IdTaken);
        }
        let (place, buyer) = (command.place, command.buyer.clone());
        Ok(Verdict::Fact(EventFact::QueueJoined { place, seat, buyer, until: now + 300_000, ahead: waiting }))
    }

    pub fn leave_queue(&self, command: &LeaveQueue) -> Decision {
        self.known_seats(&[command.seat])?;
        let mine = |place: &&super::QueuePlace| place.seat == command.seat && place.buyer == command.buyer;
        match self.places.iter().find(mine) {
            Some(place) => Ok(Verdict::Fact(EventFact::QueueLeft {
                place: place.id,
                buyer: place.buyer.clone(),
                seat: place.seat,
            })),
            None => no(Code::PlaceUnknown),
        }
    }

    pub fn change(&self, change: &ChangeEvent) -> Decision {
        if self.is_final() {
            return no(Code::StatusConflict);
        }
        let change = change.clone();
        let mut new = self.details.clone();
        new.name = change.name.unwrap_or(new.name);
        new.description = change.description.unwrap_or(new.description);
        new.starts_at = change.starts_at.unwrap_or(new.starts_at);
        new.ends_at = change.ends_at.unwrap_or(new.ends_at);
        new.sale_opens_at = change.sale_opens_at.unwrap_or(new.sale_opens_at);
        new.sale_closes_at = change.sale_closes_at.unwrap_or(new.sale_closes_at);
        new.tiers = change.tiers.unwrap_or(new.tiers);
        new.rules.hold_ms = change.hold_ms.unwrap_or(new.rules.hold_ms);
        new.rules.extension_ms = change.extension_ms.unwrap_or(new.rules.extension_ms);
        new.rules.extensions_max = change.extensions_max.unwrap_or(new.rules.extensions_max);
        new.rules.buyer_limit = change.buyer_limit.unwrap_or(new.rules.buyer_limit);
        new.rules.refuse_single_seats = change.refuse_single_seats.unwrap_or(new.rules.refuse_single_seats);
        check::details(&new)?;
        if new.tiers.len() < self.chart.tiers {
            return invalid("tiers");
        }
        if new == self.details {
            return Ok(Verdict::Outcome(Outcome::Unchanged));
        }
        Ok(Verdict::Fact(EventFact::EventChanged(Box::new(new))))
    }

    pub fn change_status(&self, status: EventStatus, now: Millis) -> Decision {
        if status == self.status {
            return Ok(Verdict::Outcome(Outcome::Unchanged));
        }
        let window = self.details.sale_closes_at.unwrap_or(i64::MAX).min(self.details.ends_at);
        if status == EventStatus::OnSale && now >= window {
            return no(Code::StatusConflict);
        }
        if !check::may_become(self.status, status) {
            return no(Code::StatusConflict);
        }
        Ok(Verdict::Fact(EventFact::StatusChanged { status, by_schedule: false }))
    }

    pub fn adopt_chart(&self, command: &AdoptChart) -> Decision {
        if self.is_final() {
            return no(Code::StatusConflict);
        }
        check::tiers(&self.details, &command.layout)?;
        let mut way = Vec::new();
        for seat in self.chart.seats.keys() {
            let id = &self.chart.ids[*seat as usize];
            let stays = command.layout.seats().any(|seat| seat.id == *id);
            let sold = self.status_of(*seat) == Status::Sold;
            if !stays && (sold || self.holder(*seat).is_some()) {
                way.push(InTheWay::Seat(*seat, Code::SeatInUse));
            }
        }
        for (index, area) in self.chart.areas.iter().enumerate() {
            let next = command.layout.areas.iter().find(|one| one.id == area.id);
            let used: u32 = self.area_use(index as u16).iter().sum();
            if used > next.map_or(0, |next| next.capacity) {
                way.push(InTheWay::Area(index as u16, Code::SeatInUse));
            }
        }
        blocked_by(way)?;
        let (venue, version, layout) = (command.venue, command.version, command.layout.clone());
        Ok(Verdict::Fact(EventFact::ChartAdopted(Box::new(ChartAdopted { venue, version, layout }))))
    }
}
