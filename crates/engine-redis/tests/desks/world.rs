//! A desk with few payments and fewer events, so that everything is told twice, late and out of order.

use onsale_domain::desk::command::{NoteAnswer, TakeWork};
use onsale_domain::desk::{DeskCommand, DeskFact, PaymentStanding, Slip, Webhook};
use onsale_domain::id::LISTING_NUMBERS;
use onsale_domain::listing::Key;
use onsale_domain::money::Currency;
use onsale_domain::{
    Command, Fact, Listing, ListingId, ListingKind, Millis, OrderId, PaymentId, PaymentName, Step, Tenant,
};

use crate::differential::chance::Chance;
use crate::differential::histories::{self, Ask, Course, SentCommands, asked_before};
use crate::differential::tally::Reachable;
use crate::on_lua::compare_on_lua;

const REACHABLE: Reachable = &[
    ("open_desk", &["done", "listing_exists"], &["wrong_kind", "listing_unknown"]),
    ("take_work", &["done", "unchanged", "invalid"], &["wrong_kind"]),
    ("note_answer", &["done", "unchanged", "invalid", "payment_unknown"], &["wrong_kind"]),
    ("receive_webhook", &["done", "unchanged", "invalid"], &["wrong_kind"]),
    ("note_delivered", &["done", "unchanged", "payment_unknown"], &["wrong_kind"]),
    ("expire_due", &["unchanged"], &["again", "key_reused", "wrong_kind"]),
    ("cancel_order", &["wrong_kind"], &["again", "key_reused"]),
];

struct World {
    chance: Chance,
    now: Millis,
    desk: ListingId,
    nowhere: ListingId,
    ids: u64,
    through: u64,
    taken: Vec<(PaymentName, u16)>,
    asked: SentCommands,
}

impl World {
    fn listing(&mut self, number: u64) -> ListingId {
        ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number }
    }

    fn of_listing(&mut self, number: u64, payment: PaymentId) -> PaymentName {
        PaymentName { listing: self.listing(number), payment }
    }

    fn name(&mut self) -> (PaymentName, u16) {
        let known = self.chance.recent(&self.taken, 9).copied();
        match self.chance.one_in(12) {
            false => known.unwrap_or_else(|| (self.of_listing(1, PaymentId(3)), 0)),
            true => {
                // Few listings and few numbers: one number is a payment of several listings.
                let (number, payment) = (1 + self.chance.below(3), PaymentId(self.chance.below(60)));
                (self.of_listing(number, payment), self.chance.below(3) as u16)
            }
        }
    }

    fn standing(&mut self) -> PaymentStanding {
        match self.chance.below(12) {
            0 => PaymentStanding::Asked,
            1..=3 => PaymentStanding::Waiting,
            4 => PaymentStanding::NeedsAction { url: "https://bank/?a=1\n|\t".into() },
            5 => PaymentStanding::NeedsAction { url: "x".repeat(3_000) },
            6..=8 => PaymentStanding::Failed { reason: "no | money".into() },
            9 if self.chance.one_in(3) => PaymentStanding::Done { amount_minor: 0 },
            _ => PaymentStanding::Done { amount_minor: 700 },
        }
    }

    fn reference(&mut self) -> Option<String> {
        match self.chance.below(9) {
            0 => Some("a\tb".into()),
            1..=4 => Some("pi_|%s".into()),
            _ => None,
        }
    }

    fn take_work(&mut self) -> DeskCommand {
        let count = if self.chance.one_in(30) { 65 } else { self.chance.below(4) };
        let slips = (0..count).map(|_| {
            let payment = PaymentId(self.chance.below(60));
            let refund = self.chance.below(3) as u16;
            Slip {
                order: OrderId(payment.0 + 100),
                payment,
                refund,
                amount_minor: 700,
                currency: Currency::parse("EUR").expect("three letters"),
                until: (refund == 0).then_some(self.now + 60_000),
                of_reference: (refund > 0).then(|| "pi_1".to_owned()),
                method: None,
            }
        });
        let slips = slips.collect();
        self.through += self.chance.below(3);
        let number = 1 + self.chance.below(3);
        TakeWork { listing: self.listing(number), through: self.through, slips }.into_command()
    }

    fn webhook(&mut self) -> DeskCommand {
        let event = format!("evt:{}", self.chance.below(400));
        let event = if self.chance.one_in(40) { String::new() } else { event };
        let (payment, refund) = self.name();
        let payment = (!self.chance.one_in(8)).then_some(payment);
        let standing = (!self.chance.one_in(6)).then(|| self.standing());
        let (provider, kind) = (["stripe", "sim"][self.chance.below(2) as usize].into(), "k".into());
        let reference = self.reference();
        let failures = self.chance.one_in(3).then(|| self.chance.below(3) as u16);
        DeskCommand::ReceiveWebhook(Box::new(Webhook {
            provider,
            event,
            kind,
            payment,
            refund,
            reference,
            standing,
            failures,
        }))
    }

    fn command(&mut self, exists: bool) -> Command {
        let choice = self.chance.below(100);
        if !exists && choice < 40 {
            return Command::Desk(DeskCommand::Open);
        }
        let (payment, refund) = self.name();
        Command::Desk(match choice {
            0..=1 => DeskCommand::Open,
            2 => return Command::ExpireDue { limit: 5 },
            3 => {
                let buyer = onsale_domain::BuyerId::parse("ann").expect("a name");
                let key = onsale_domain::order::command::OrderKey { order: OrderId(1), buyer };
                return Command::Order(onsale_domain::order::OrderCommand::Cancel(key));
            }
            4..=28 => self.take_work(),
            29..=54 => {
                let (reference, standing) = (self.reference(), self.standing());
                let failures = if self.chance.one_in(3) { self.chance.below(3) as u16 } else { 0 };
                DeskCommand::NoteAnswer(NoteAnswer { payment, refund, failures, reference, standing })
            }
            55..=79 => self.webhook(),
            _ => DeskCommand::NoteDelivered { payment, refund, rank: 2 + self.chance.below(3) as u8 },
        })
    }
}

trait IntoCommand {
    fn into_command(self) -> DeskCommand;
}

impl IntoCommand for TakeWork {
    fn into_command(self) -> DeskCommand {
        DeskCommand::TakeWork(self)
    }
}

impl histories::World for World {
    const REACHABLE: Reachable = REACHABLE;
}

impl Course for World {
    fn of_seed(seed: u64) -> World {
        let number = (seed << 8) % LISTING_NUMBERS;
        let desk = |number| ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Desk, number };
        World {
            chance: Chance::new(seed),
            now: 1_700_000_000_000,
            desk: desk(number | 1),
            nowhere: desk(number | 2),
            ids: seed << 40,
            through: 5,
            taken: Vec::new(),
            asked: SentCommands::default(),
        }
    }

    fn chance(&mut self) -> &mut Chance {
        &mut self.chance
    }

    fn now(&self) -> Millis {
        self.now
    }

    /// A week passes now and then: that is how long a desk remembers.
    fn pass_time(&mut self) {
        self.now += match self.chance.below(60) {
            0 => 3 * 86_400_000,
            1 => 604_800_000 - 1_000,
            2 => -5_000,
            3..=20 => self.chance.below(2_000) as Millis,
            _ => 0,
        };
    }

    fn fresh(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    fn listing(&self) -> ListingId {
        self.desk
    }

    fn ask(&mut self, about: &Listing) -> Ask {
        if self.chance.one_in(9)
            && let Some((key, listing, command)) = asked_before(&self.asked, &mut self.chance)
        {
            let fingerprint = key.fingerprint ^ u128::from(self.chance.one_in(2));
            return Ask { listing, command, key: Some(Key { fingerprint, ..key }) };
        }
        let listing = if self.chance.one_in(20) { self.nowhere } else { self.desk };
        let mut command = self.command(about.exists());
        // Nowhere is never opened.
        if listing == self.nowhere && command == Command::Desk(DeskCommand::Open) {
            command = Command::ExpireDue { limit: 1 };
        }
        let fingerprint = u128::from(self.chance.next()) << 1;
        let keyed = !matches!(command, Command::ExpireDue { .. }) && self.chance.one_in(3);
        let key = keyed.then(|| Key { scope: self.fresh().into(), fingerprint });
        Ask { listing, command, key }
    }

    fn asked(&mut self) -> &mut SentCommands {
        &mut self.asked
    }

    fn learn(&mut self, step: &Step) {
        for fact in &step.facts {
            if let Fact::Desk(DeskFact::WorkTaken { listing, slips, .. }) = fact {
                self.taken.extend(slips.iter().map(|slip| (slip.of(*listing), slip.refund)));
            }
        }
    }
}

#[test]
fn redis_keeps_a_desk_as_the_domain_does() {
    compare_on_lua::<World>("desks", 40, 400);
}
