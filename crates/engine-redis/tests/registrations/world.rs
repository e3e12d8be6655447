//! One small world for a random history: a registration of few places, and buyers who come, wait, pay and leave.

use onsale_domain::id::LISTING_NUMBERS;
use onsale_domain::listing::Key;
use onsale_domain::money::Currency;
use onsale_domain::registration::RegistrationFact;
use onsale_domain::registration::command::{
    CancelEntry, ChangeRegistration, ConfirmEntry, CreateRegistration, Register, RegistrationCommand,
};
use onsale_domain::registration::details::RegistrationDetails;
use onsale_domain::{
    BuyerId, Command, EntryId, Fact, Listing, ListingId, ListingKind, Millis, OrderId, Step, Tenant,
};

use crate::differential::chance::{BUYERS, Chance};
use crate::differential::histories::{Ask, SentCommands, asked_before, takes_its_course};

const DAY: Millis = 86_400_000;

/// Another listing that a registration may name; whether there is one is not for the rules.
fn other(kind: ListingKind) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind, number: 7 }
}

pub(crate) struct World {
    pub chance: Chance,
    pub now: Millis,
    pub registration: ListingId,
    pub nowhere: ListingId,
    ids: u64,
    pub entries: Vec<(EntryId, BuyerId)>,
    pub orders: Vec<OrderId>,
    pub asked: SentCommands,
}

takes_its_course!(World, registration);

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let listing = |number| ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Registration, number };
        let number = (seed << 8) % LISTING_NUMBERS;
        World {
            chance: Chance::new(seed),
            now: 1_700_000_000_000,
            registration: listing(number | 1),
            nowhere: listing(number | 2),
            ids: seed << 40,
            entries: Vec::new(),
            orders: Vec::new(),
            asked: Vec::new(),
        }
    }

    pub(crate) fn fresh(&mut self) -> u64 {
        self.ids += 1;
        self.ids.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn pass_time(&mut self) {
        self.now += match self.chance.below(400) {
            0..=59 => 20 * self.chance.below(100) as Millis,
            60..=75 => 16_000,
            76..=81 => 45_000,
            82..=84 => 155_000,
            85 => 3_700_000,
            86 if self.chance.one_in(8) => DAY,
            87 => -5_000,
            _ => 0,
        };
    }

    pub(crate) fn ask(&mut self, registration: &Listing) -> Ask {
        // Now and then it is the very instant at which something is over.
        if let Some(due) =
            registration.next_due().filter(|due| (self.now..self.now + 4_000_000).contains(due))
            && self.chance.one_in(30)
        {
            self.now = due;
        }
        if self.chance.one_in(9)
            && let Some((key, listing, command)) = asked_before(&self.asked, &mut self.chance)
        {
            let fingerprint = key.fingerprint ^ u128::from(self.chance.one_in(2));
            return Ask { listing, command, key: Some(Key { fingerprint, ..key }) };
        }
        let listing = if self.chance.one_in(40) { self.nowhere } else { self.registration };
        let command = match self.chance.below(100) {
            _ if !registration.exists() && !self.chance.one_in(4) => self.create(),
            0..=39 => self.register(),
            40..=59 => self.confirm(),
            60..=79 => self.cancel_entry(),
            80..=86 => RegistrationCommand::ChangeCapacity { capacity: self.chance.below(7) as u32 },
            87..=91 => self.change(),
            92 if self.chance.one_in(8) => return self.last(RegistrationCommand::Close),
            93 if self.chance.one_in(8) => return self.last(RegistrationCommand::Cancel),
            94 => self.create(),
            95 => return self.other(listing),
            _ => {
                let limit = [1, 2, 64][self.chance.below(3) as usize];
                return Ask { listing, command: Command::ExpireDue { limit }, key: None };
            }
        };
        let key = self
            .chance
            .one_in(3)
            .then(|| Key { scope: self.fresh().into(), fingerprint: u128::from(self.chance.next()) << 1 });
        Ask { listing, command: Command::Registration(command), key }
    }

    /// The end of a registration is the end of its history: nobody asks for it elsewhere, or under a key.
    fn last(&self, command: RegistrationCommand) -> Ask {
        Ask { listing: self.registration, command: Command::Registration(command), key: None }
    }

    /// A verb that is not for registrations.
    fn other(&mut self, listing: ListingId) -> Ask {
        Ask { listing, command: Command::Sale(onsale_domain::stock::SaleCommand::Close), key: None }
    }

    pub(crate) fn learn(&mut self, step: &Step) {
        for fact in &step.facts {
            if let Fact::Registration(
                RegistrationFact::Registered { entry, buyer }
                | RegistrationFact::Reserved { entry, buyer, .. }
                | RegistrationFact::Waitlisted { entry, buyer, .. },
            ) = fact
            {
                self.entries.push((*entry, buyer.clone()));
            }
        }
    }

    pub(crate) fn buyer(&mut self) -> BuyerId {
        let name = BUYERS[self.chance.below(BUYERS.len() as u64) as usize];
        BuyerId::parse(name).expect("a name that the domain admits")
    }

    fn create(&mut self) -> RegistrationCommand {
        let opens_at = self.now + if self.chance.one_in(4) { 20_000 } else { -1_000 };
        let (cut_off_ms, length) = match self.chance.below(8) {
            0 => (1_000, 3_000_000),
            1 => (DAY, DAY + 500_000),
            2 => (1_000, -5_000),
            _ => (DAY, 30 * DAY),
        };
        let details = RegistrationDetails {
            name: if self.chance.one_in(8) { "" } else { "Kurs | {x}" }.to_owned(),
            description: "Two\nlines | of \"text\"".into(),
            opens_at,
            starts_at: self.now + length,
            cut_off_ms,
            currency: Currency::parse("EUR").expect("three letters"),
            price_minor: if self.chance.one_in(2) { 0 } else { 900 },
            checkout_ms: 30_000 + self.chance.below(10) as Millis * 10_000,
            ends_at: self.chance.one_in(4).then_some(self.now + length + 3_600_000),
            event: self.chance.one_in(4).then_some(other(ListingKind::Event)),
            venue: self.chance.one_in(4).then_some(other(ListingKind::Venue)),
        };
        let capacity = self.chance.below(4) as u32;
        RegistrationCommand::Create(Box::new(CreateRegistration { details, capacity }))
    }

    fn register(&mut self) -> RegistrationCommand {
        let reused = self.chance.one_in(16).then(|| self.chance.recent(&self.entries, 9).map(|(id, _)| *id));
        let entry = reused.flatten().unwrap_or_else(|| EntryId(self.fresh()));
        RegistrationCommand::Register(Register { entry, buyer: self.buyer() })
    }

    /// An entry that was made once, mostly a recent one; now and then in the wrong hands, or nobody's.
    fn entry(&mut self) -> (EntryId, BuyerId) {
        let (mut entry, mut buyer) = match self.chance.recent(&self.entries, 10).cloned() {
            Some(known) => known,
            None => (EntryId(7), self.buyer()),
        };
        if self.chance.one_in(16) {
            buyer = self.buyer();
        }
        if self.chance.one_in(24) {
            entry = EntryId(self.fresh());
        }
        (entry, buyer)
    }

    fn confirm(&mut self) -> RegistrationCommand {
        let (entry, buyer) = self.entry();
        let known = self.chance.recent(&self.orders, 6).copied().filter(|_| self.chance.one_in(3));
        let order = known.unwrap_or_else(|| OrderId(self.fresh()));
        self.orders.push(order);
        let settled = !self.chance.one_in(4);
        RegistrationCommand::Confirm(ConfirmEntry { entry, buyer, order, settled })
    }

    fn cancel_entry(&mut self) -> RegistrationCommand {
        let (entry, buyer) = self.entry();
        let buyer = (!self.chance.one_in(4)).then_some(buyer);
        RegistrationCommand::CancelEntry(CancelEntry { entry, buyer })
    }

    fn change(&mut self) -> RegistrationCommand {
        let nothing = ChangeRegistration::default();
        RegistrationCommand::Change(Box::new(match self.chance.below(10) {
            0 => ChangeRegistration { name: Some(String::new()), ..nothing },
            1 => ChangeRegistration { opens_at: Some(self.now + 5_000), ..nothing },
            2 => ChangeRegistration { price_minor: Some(0), ..nothing },
            3 => ChangeRegistration { price_minor: Some(1_100), ..nothing },
            4 => {
                ChangeRegistration { starts_at: Some(self.now + 10_000), cut_off_ms: Some(1_000), ..nothing }
            }
            5 => ChangeRegistration {
                starts_at: Some(self.now + 20 * DAY + self.chance.below(9) as Millis),
                cut_off_ms: Some(DAY),
                ..nothing
            },
            6 => ChangeRegistration { checkout_ms: Some(40_000), ..nothing },
            7 => ChangeRegistration { ends_at: Some(Some(self.now + 31 * DAY)), ..nothing },
            8 => ChangeRegistration {
                ends_at: Some(None),
                event: Some(None),
                venue: Some(Some(other(ListingKind::Venue))),
                ..nothing
            },
            _ => nothing,
        }))
    }
}
