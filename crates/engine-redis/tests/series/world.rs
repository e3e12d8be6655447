//! One small world for a random history: a series that opens sales by the hour, and servers that ask for slots of all
//! kinds: the right ones, past ones, early ones, ones that are off its schedule, the same ones twice.

use onsale_domain::id::LISTING_NUMBERS;
use onsale_domain::listing::Key;
use onsale_domain::money::Currency;
use onsale_domain::series::command::{ChangeSeries, OpenSlot, SeriesCommand};
use onsale_domain::series::details::{ItemTemplate, SaleTemplate, SeriesDetails};
use onsale_domain::series::schedule::{Schedule, Slot};
use onsale_domain::stock::details::StockRules;
use onsale_domain::{Command, Listing, ListingId, ListingKind, Millis, Step, Tenant};

use crate::differential::chance::Chance;
use crate::differential::histories::{Ask, SentCommands, asked_before, takes_its_course};

const HOUR: Millis = 3_600_000;

pub(crate) struct World {
    pub chance: Chance,
    pub now: Millis,
    pub series: ListingId,
    nowhere: ListingId,
    zoned: bool,
    ids: u64,
    pub asked: SentCommands,
}

takes_its_course!(World, series);

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let mut chance = Chance::new(seed);
        let listing = |number| ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Series, number };
        let number = (seed << 8) % LISTING_NUMBERS;
        let zoned = chance.one_in(2);
        World {
            chance,
            now: 1_700_000_000_000,
            series: listing(number | 1),
            nowhere: listing(number | 2),
            zoned,
            ids: seed << 40,
            asked: Vec::new(),
        }
    }

    pub(crate) fn fresh(&mut self) -> u64 {
        self.ids += 1;
        self.ids.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn pass_time(&mut self) {
        self.now += match self.chance.below(12) {
            0..=3 => 60_000 * self.chance.below(30) as Millis,
            4 => HOUR,
            5 if self.chance.one_in(3) => 5 * HOUR,
            // To the very minute before a full hour, or to the hour itself.
            6 => HOUR - self.now.rem_euclid(HOUR),
            7 => HOUR - (self.now + 60_000).rem_euclid(HOUR),
            8 if self.chance.one_in(4) => -5_000,
            _ => 0,
        };
    }

    pub(crate) fn ask(&mut self, series: &Listing) -> Ask {
        if self.chance.one_in(9)
            && let Some((key, listing, command)) = asked_before(&self.asked, &mut self.chance)
        {
            let fingerprint = key.fingerprint ^ u128::from(self.chance.one_in(2));
            return Ask { listing, command, key: Some(Key { fingerprint, ..key }) };
        }
        let listing = if self.chance.one_in(30) { self.nowhere } else { self.series };
        let command = match self.chance.below(100) {
            _ if !series.exists() && !self.chance.one_in(4) => self.create(),
            0..=54 => self.open(),
            55..=74 => SeriesCommand::SkipSlots(self.slots(3)),
            75..=79 => SeriesCommand::Pause,
            80..=88 => SeriesCommand::Resume,
            89..=94 => self.change(),
            // The end of a series is the end of its history: nobody asks for it elsewhere, or under a key.
            95 if self.chance.one_in(8) => {
                let command = Command::Series(SeriesCommand::End);
                return Ask { listing: self.series, command, key: None };
            }
            96 => self.create(),
            97 => return self.other(listing),
            _ => return Ask { listing, command: Command::ExpireDue { limit: 9 }, key: None },
        };
        let key = self
            .chance
            .one_in(3)
            .then(|| Key { scope: self.fresh().into(), fingerprint: u128::from(self.chance.next()) << 1 });
        Ask { listing, command: Command::Series(command), key }
    }

    /// A verb that is not for series.
    fn other(&mut self, listing: ListingId) -> Ask {
        Ask { listing, command: Command::Sale(onsale_domain::stock::SaleCommand::Close), key: None }
    }

    pub(crate) fn learn(&mut self, _: &Step) {}

    fn create(&mut self) -> SeriesCommand {
        let schedule = match self.zoned {
            true => Schedule::Cron { line: "0 * * * *".into(), zone: "Europe/Berlin".into() },
            false => Schedule::Hourly,
        };
        let from = if self.chance.one_in(4) { self.now + 2 * HOUR } else { 0 };
        let name = if self.chance.one_in(6) { "" } else { "each | {hour}" }.to_owned();
        let template = self.template();
        SeriesCommand::Create(Box::new(SeriesDetails { name, schedule, from, template }))
    }

    fn template(&mut self) -> SaleTemplate {
        let name = self.chance.one_in(3).then(|| "A mug | {x}:\"1\"".to_owned());
        let picture = self.chance.one_in(3).then(|| "<svg>\n\t</svg>".to_owned());
        let item = ItemTemplate { price_minor: 700, stock: 1 + self.chance.below(9) as u32, name, picture };
        SaleTemplate {
            name: "one hour".into(),
            description: "Two\nlines | of \"text\"".into(),
            currency: Currency::parse("EUR").expect("three letters"),
            rules: StockRules::default(),
            length_ms: [HOUR, 30 * 60_000, 2 * HOUR][self.chance.below(3) as usize],
            items: vec![item; 1 + self.chance.below(3) as usize],
        }
    }

    fn change(&mut self) -> SeriesCommand {
        let nothing = ChangeSeries::default();
        SeriesCommand::Change(Box::new(match self.chance.below(4) {
            0 => ChangeSeries { name: Some(String::new()), ..nothing },
            1 => ChangeSeries { name: Some(format!("n{}", self.chance.below(9))), ..nothing },
            2 => ChangeSeries { template: Some(self.template()), ..nothing },
            _ => nothing,
        }))
    }

    /// A slot so many hours from now; now and then one that is off the schedule. Clocks are set back and forth at will.
    fn slot(&mut self, hours: i64) -> Slot {
        let full = self.now - self.now.rem_euclid(HOUR) + hours * HOUR;
        let ahead = if self.zoned {
            [3_600, 7_200, -1_800][self.chance.below(20).saturating_sub(17) as usize]
        } else {
            0
        };
        let at = if self.chance.one_in(16) { full + 1_000 } else { full };
        Slot { at, offset_s: ahead }
    }

    /// Up to `most` slots in a row, mostly in order.
    fn slots(&mut self, most: u64) -> Vec<Slot> {
        let count = self.chance.below(most + 1) as i64;
        let first = 1 - self.chance.below(5) as i64;
        let mut slots: Vec<Slot> = (0..count).map(|n| self.slot(first - count + n + 1)).collect();
        if self.chance.one_in(12) {
            slots.reverse();
        }
        slots
    }

    fn open(&mut self) -> SeriesCommand {
        let hours = [0, 0, 0, 1, 1, -1, 2][self.chance.below(7) as usize];
        let slot = self.slot(hours);
        let count = if self.chance.one_in(3) { 1 + self.chance.below(3) as i64 } else { 0 };
        let off = i64::from(!self.chance.one_in(8));
        let skipped = (0..count).map(|n| self.slot(hours - count + n + 1 - off)).collect();
        SeriesCommand::OpenSlot(OpenSlot { slot, skipped })
    }
}
