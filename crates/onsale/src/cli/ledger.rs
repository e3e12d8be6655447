//! A second, much simpler book of who has which place, kept from facts alone. `verify` and `load` check with it
//! that nothing was held or sold twice; it shares no code with the rules that decided.

use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;

/// What one fact does to places, in the ledger's own few words. `S` names a seat, `A` an area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<S, A> {
    Chart {
        seats: Vec<S>,
        areas: Vec<(A, u64)>,
    },
    Placed {
        hold: u64,
        seats: Vec<S>,
        areas: Vec<(A, u64)>,
    },
    Grown {
        hold: u64,
        seats: Vec<S>,
        areas: Vec<(A, u64)>,
    },
    Dropped {
        hold: u64,
        seats: Vec<S>,
        areas: Vec<(A, u64)>,
    },
    Ended {
        hold: u64,
    },
    Confirmed {
        hold: u64,
        order: u64,
    },
    Refunded {
        order: u64,
        seats: Vec<S>,
        areas: Vec<(A, u64)>,
    },
    Queued {
        place: u64,
        seat: S,
    },
    Unqueued {
        place: u64,
    },
    Offered {
        place: u64,
    },
    Blocked {
        seats: Vec<S>,
        areas: Vec<(A, u64)>,
    },
    Unblocked {
        seats: Vec<S>,
        areas: Vec<(A, u64)>,
    },
    /// Closed, postponed, completed, cancelled: nobody waits any more.
    QueuesDissolved,
}

/// Who has a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grip {
    Held(u64),
    Sold(u64),
}

#[derive(Clone, Debug, Default)]
struct Lot<S, A> {
    seats: Vec<S>,
    areas: Vec<(A, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Area {
    capacity: u64,
    held: u64,
    sold: u64,
    blocked: u64,
}

#[derive(Clone, Debug)]
pub struct Ledger<S, A> {
    /// Every seat of the chart, and whether it is blocked.
    seats: HashMap<S, bool>,
    taken: HashMap<S, Grip>,
    areas: HashMap<A, Area>,
    holds: HashMap<u64, Lot<S, A>>,
    orders: HashMap<u64, Lot<S, A>>,
    waiting: HashMap<u64, S>,
    /// Who waits for a seat, so that a sale need not look at all who wait.
    lines: HashMap<S, Vec<u64>>,
}

/// What the book says at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub places: u64,
    pub holds: u64,
    pub held: u64,
    pub orders: u64,
    pub sold: u64,
    pub waiting: u64,
}

impl<S, A> Default for Ledger<S, A> {
    fn default() -> Self {
        Ledger {
            seats: HashMap::new(),
            taken: HashMap::new(),
            areas: HashMap::new(),
            holds: HashMap::new(),
            orders: HashMap::new(),
            waiting: HashMap::new(),
            lines: HashMap::new(),
        }
    }
}

impl<S: Clone + Eq + Hash + Display, A: Clone + Eq + Hash + Display> Ledger<S, A> {
    /// Writes one line; an error says which promise it breaks.
    pub fn take(&mut self, line: Line<S, A>) -> Result<(), String> {
        match line {
            Line::Chart { seats, areas } => self.chart(seats, areas),
            Line::Placed { hold, seats, areas } => self.grant(hold, Lot { seats, areas }),
            Line::Grown { hold, seats, areas } => self.grow(hold, Lot { seats, areas }),
            Line::Dropped { hold, seats, areas } => {
                let lot = self.holds.get_mut(&hold).ok_or("seats dropped from a hold that nobody has")?;
                take_from(lot, &seats, &areas)?;
                self.free_held(&Lot { seats, areas })
            }
            Line::Ended { hold } => {
                let lot = self.holds.remove(&hold).ok_or("a hold ended that nobody has")?;
                self.free_held(&lot)
            }
            Line::Confirmed { hold, order } => self.sell(hold, order),
            Line::Refunded { order, seats, areas } => {
                let lot = self.orders.get_mut(&order).ok_or("an order refunded that nobody made")?;
                take_from(lot, &seats, &areas)?;
                for seat in &seats {
                    self.taken.remove(seat);
                }
                self.areas(&areas, |area, count| area.sold.checked_sub(count).map(|left| area.sold = left))
            }
            Line::Queued { place, seat } => {
                if !self.taken.contains_key(&seat) {
                    return Err(format!("somebody queues for seat {seat}, which is free"));
                }
                self.lines.entry(seat.clone()).or_default().push(place);
                self.waiting.insert(place, seat);
                Ok(())
            }
            Line::Unqueued { place } => {
                self.leave(place);
                Ok(())
            }
            Line::Offered { place } => {
                let seat = self.leave(place).ok_or("a seat offered to somebody who did not wait")?;
                self.grant(place, Lot { seats: vec![seat], areas: Vec::new() })
            }
            Line::Blocked { seats, areas } => {
                self.dissolve(&seats);
                self.block(&seats, true)?;
                self.areas(&areas, |area, count| {
                    area.blocked += count;
                    Some(())
                })
            }
            Line::Unblocked { seats, areas } => {
                self.block(&seats, false)?;
                self.areas(&areas, |area, count| {
                    area.blocked.checked_sub(count).map(|left| area.blocked = left)
                })
            }
            Line::QueuesDissolved => {
                self.waiting.clear();
                self.lines.clear();
                Ok(())
            }
        }
    }

    pub fn totals(&self) -> Totals {
        let sold_seats = self.taken.values().filter(|grip| matches!(grip, Grip::Sold(_))).count() as u64;
        let all = |what: fn(&Area) -> u64| self.areas.values().map(what).sum::<u64>();
        Totals {
            places: self.seats.len() as u64 + all(|area| area.capacity),
            holds: self.holds.len() as u64,
            held: self.taken.len() as u64 - sold_seats + all(|area| area.held),
            orders: self.orders.len() as u64,
            sold: sold_seats + all(|area| area.sold),
            waiting: self.waiting.len() as u64,
        }
    }

    /// What a seat shows by this book: the words of `GET …/seats`.
    pub fn status(&self, seat: &S) -> Option<&'static str> {
        let blocked = *self.seats.get(seat)?;
        Some(match (self.taken.get(seat), blocked) {
            (Some(Grip::Sold(_)), _) => "sold",
            (_, true) => "blocked",
            (Some(Grip::Held(_)), false) => "held",
            (None, false) => "available",
        })
    }

    pub fn seats(&self) -> impl Iterator<Item = &S> {
        self.seats.keys()
    }

    fn chart(&mut self, seats: Vec<S>, areas: Vec<(A, u64)>) -> Result<(), String> {
        let before = std::mem::take(&mut self.seats);
        for seat in seats {
            let blocked = before.get(&seat).copied().unwrap_or(false);
            self.seats.insert(seat, blocked);
        }
        if let Some(seat) = self.taken.keys().find(|seat| !self.seats.contains_key(*seat)) {
            return Err(format!("a new chart removes seat {seat}, which is held or sold"));
        }
        let mut before = std::mem::take(&mut self.areas);
        for (name, capacity) in areas {
            let area = Area { capacity, ..before.remove(&name).unwrap_or_default() };
            self.areas.insert(name, area);
        }
        Ok(())
    }

    fn grant(&mut self, hold: u64, lot: Lot<S, A>) -> Result<(), String> {
        self.take_free(hold, &lot)?;
        match self.holds.insert(hold, lot) {
            None => Ok(()),
            Some(_) => Err("two holds have the same id".to_owned()),
        }
    }

    fn grow(&mut self, hold: u64, more: Lot<S, A>) -> Result<(), String> {
        self.take_free(hold, &more)?;
        let lot = self.holds.get_mut(&hold).ok_or("a hold grows that nobody has")?;
        lot.seats.extend(more.seats);
        for (name, count) in more.areas {
            match lot.areas.iter_mut().find(|(own, _)| *own == name) {
                Some((_, own)) => *own += count,
                None => lot.areas.push((name, count)),
            }
        }
        Ok(())
    }

    /// What a hold takes was free, and is its own from here on.
    fn take_free(&mut self, hold: u64, lot: &Lot<S, A>) -> Result<(), String> {
        for seat in &lot.seats {
            match self.seats.get(seat) {
                None => return Err(format!("seat {seat} is held, but the chart has no such seat")),
                Some(true) => return Err(format!("seat {seat} is held, but it is blocked")),
                Some(false) => {}
            }
            match self.taken.insert(seat.clone(), Grip::Held(hold)) {
                None => {}
                Some(Grip::Held(_)) => return Err(format!("seat {seat} is held twice")),
                Some(Grip::Sold(_)) => return Err(format!("seat {seat} is held, but it is sold")),
            }
        }
        for (name, count) in &lot.areas {
            let Some(area) = self.areas.get_mut(name) else {
                return Err(format!("places of {name} are held, but the chart has no such area"));
            };
            area.held += count;
            if area.held + area.sold + area.blocked > area.capacity {
                return Err(format!("more places of {name} are held and sold than it has"));
            }
        }
        Ok(())
    }

    fn sell(&mut self, hold: u64, order: u64) -> Result<(), String> {
        let lot = self.holds.remove(&hold).ok_or("a hold confirmed that nobody has")?;
        for seat in &lot.seats {
            match self.taken.insert(seat.clone(), Grip::Sold(order)) {
                Some(Grip::Held(by)) if by == hold => {}
                Some(Grip::Sold(_)) => return Err(format!("seat {seat} is sold twice")),
                Some(Grip::Held(_)) | None => {
                    return Err(format!("seat {seat} is sold to somebody who did not hold it"));
                }
            }
        }
        self.areas(&lot.areas, |area, count| {
            area.sold += count;
            area.held.checked_sub(count).map(|left| area.held = left)
        })?;
        self.dissolve(&lot.seats);
        match self.orders.insert(order, lot) {
            None => Ok(()),
            Some(_) => Err("two orders have the same id".to_owned()),
        }
    }

    fn free_held(&mut self, lot: &Lot<S, A>) -> Result<(), String> {
        for seat in &lot.seats {
            match self.taken.remove(seat) {
                Some(Grip::Held(_)) => {}
                Some(Grip::Sold(_)) => return Err(format!("seat {seat} came free although it is sold")),
                None => return Err(format!("seat {seat} came free although nobody held it")),
            }
        }
        self.areas(&lot.areas, |area, count| area.held.checked_sub(count).map(|left| area.held = left))
    }

    fn leave(&mut self, place: u64) -> Option<S> {
        let seat = self.waiting.remove(&place)?;
        if let Some(line) = self.lines.get_mut(&seat) {
            line.retain(|other| *other != place);
        }
        Some(seat)
    }

    fn dissolve(&mut self, seats: &[S]) {
        for seat in seats {
            for place in self.lines.remove(seat).unwrap_or_default() {
                self.waiting.remove(&place);
            }
        }
    }

    fn block(&mut self, seats: &[S], on: bool) -> Result<(), String> {
        for seat in seats {
            let blocked = self.seats.get_mut(seat).ok_or_else(|| format!("no seat {seat} to block"))?;
            *blocked = on;
        }
        Ok(())
    }

    fn areas(
        &mut self,
        lines: &[(A, u64)],
        change: impl Fn(&mut Area, u64) -> Option<()>,
    ) -> Result<(), String> {
        for (name, count) in lines {
            let changed = self.areas.get_mut(name).and_then(|area| change(area, *count));
            changed.ok_or_else(|| format!("the places of {name} do not add up"))?;
        }
        Ok(())
    }
}

/// Takes some places out of a lot that must have them.
fn take_from<S: Eq + Display, A: Eq + Display>(
    lot: &mut Lot<S, A>,
    seats: &[S],
    areas: &[(A, u64)],
) -> Result<(), String> {
    for seat in seats {
        let at = lot.seats.iter().position(|own| own == seat);
        lot.seats.swap_remove(at.ok_or_else(|| format!("seat {seat} was not part of it"))?);
    }
    for (name, count) in areas {
        let own = lot.areas.iter_mut().find(|(own, _)| own == name);
        let left = own.and_then(|(_, own)| own.checked_sub(*count).map(|left| *own = left));
        left.ok_or_else(|| format!("so many places of {name} were not part of it"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(lines: Vec<Line<u32, u16>>) -> Result<Totals, String> {
        let mut ledger = Ledger::default();
        ledger.take(Line::Chart { seats: (0..10).collect(), areas: vec![(0, 5)] })?;
        for line in lines {
            ledger.take(line)?;
        }
        Ok(ledger.totals())
    }

    fn placed(hold: u64, seats: &[u32]) -> Line<u32, u16> {
        Line::Placed { hold, seats: seats.to_vec(), areas: Vec::new() }
    }

    fn grown(hold: u64, seats: &[u32]) -> Line<u32, u16> {
        Line::Grown { hold, seats: seats.to_vec(), areas: Vec::new() }
    }

    #[test]
    fn a_whole_story_adds_up() {
        let totals = write(vec![
            placed(1, &[1, 2]),
            Line::Queued { place: 9, seat: 1 },
            Line::Dropped { hold: 1, seats: vec![1], areas: Vec::new() },
            Line::Grown { hold: 1, seats: vec![3], areas: vec![(0, 2)] },
            Line::Grown { hold: 1, seats: Vec::new(), areas: vec![(0, 1)] },
            Line::Dropped { hold: 1, seats: vec![3], areas: vec![(0, 3)] },
            Line::Offered { place: 9 },
            Line::Confirmed { hold: 1, order: 7 },
            Line::Placed { hold: 3, seats: Vec::new(), areas: vec![(0, 5)] },
        ]);
        let expected = Totals { places: 15, holds: 2, held: 6, orders: 1, sold: 1, waiting: 0 };
        assert_eq!(totals, Ok(expected));
    }

    #[test]
    fn every_broken_promise_is_named() {
        let sold = || vec![placed(1, &[1]), Line::Confirmed { hold: 1, order: 7 }];
        let with = |last| [sold(), vec![last]].concat();
        for (lines, why) in [
            (vec![placed(1, &[1]), placed(2, &[1])], "held twice"),
            (with(placed(2, &[1])), "it is sold"),
            (with(Line::Confirmed { hold: 1, order: 8 }), "nobody has"),
            (vec![placed(1, &[1]), placed(1, &[2])], "same id"),
            (vec![Line::Blocked { seats: vec![1], areas: Vec::new() }, placed(1, &[1])], "blocked"),
            (vec![Line::Placed { hold: 1, seats: Vec::new(), areas: vec![(0, 6)] }], "more places of 0"),
            (vec![Line::Ended { hold: 1 }], "nobody has"),
            (vec![grown(1, &[1])], "nobody has"),
            (vec![placed(1, &[1]), grown(1, &[1])], "held twice"),
            (with(grown(1, &[2])), "nobody has"),
            (
                vec![placed(1, &[1]), Line::Grown { hold: 1, seats: Vec::new(), areas: vec![(0, 6)] }],
                "more places",
            ),
            (vec![Line::Offered { place: 1 }], "did not wait"),
            (vec![placed(1, &[11])], "no such seat"),
        ] {
            let told = write(lines).expect_err(why);
            assert!(told.contains(why), "{told}");
        }
    }
}
