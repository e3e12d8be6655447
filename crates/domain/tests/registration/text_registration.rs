//! A registration that is spoken to in lines of text. The only test code that knows its API.

use onsale_domain::money::Currency;
use onsale_domain::refusal::Detail;
use onsale_domain::registration::command::{
    CancelEntry, ChangeRegistration, ConfirmEntry, CreateRegistration, Register, RegistrationCommand,
};
use onsale_domain::registration::details::RegistrationDetails;
use onsale_domain::registration::fact::EntryCancelCause;
use onsale_domain::registration::image::RegistrationImage;
use onsale_domain::registration::{
    EntryStanding, EntryState, Registration, RegistrationFact, RegistrationFound, RegistrationQuery,
    check_invariants,
};
use onsale_domain::step_writer::StepWriter;
use onsale_domain::{BuyerId, EntryId, Millis, OrderId, Outcome};
use onsale_domain::{Fact, Kind};

const FENCE: u64 = 1 << 40;

pub(crate) struct TextRegistration {
    pub registration: Registration,
    fence: u64,
    last_at: Millis,
    log: Vec<(RegistrationFact, u64, Millis)>,
}

/// Two places; opens at second 100, starts at second 300,000, closes a day before.
fn create(price_minor: i64) -> CreateRegistration {
    let details = RegistrationDetails {
        name: "course".into(),
        description: String::new(),
        opens_at: 100_000,
        starts_at: 300_000_000,
        cut_off_ms: 86_400_000,
        currency: Currency::parse("EUR").expect("three letters"),
        price_minor,
        checkout_ms: 600_000,
        ends_at: None,
        event: None,
        venue: None,
    };
    CreateRegistration { details, capacity: 2 }
}

#[track_caller]
pub(crate) fn check(table: &str) {
    play(0, table);
}

/// With a price of 500.
#[track_caller]
pub(crate) fn check_paid(table: &str) {
    play(500, table);
}

#[track_caller]
fn play(price_minor: i64, table: &str) {
    let mut spoken = TextRegistration::new(price_minor);
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (asked, expected) = line.split_once("->").unwrap_or_else(|| panic!("no answer in {line:?}"));
        let mut copies = spoken.copies();
        let answer = spoken.say(asked);
        assert_eq!(answer, expected.trim(), "\n  {line}\nof\n{table}");
        for copy in &mut copies {
            assert_eq!(copy.say(asked), answer, "a copy answers otherwise:\n  {line}\nof\n{table}");
        }
    }
}

impl TextRegistration {
    pub(crate) fn new(price_minor: i64) -> TextRegistration {
        let facts = Registration::create(&create(price_minor), 0).expect("it can be created");
        let registration = Registration::begin(&facts[0]).expect("the first fact begins it");
        TextRegistration {
            registration,
            fence: FENCE + 1,
            last_at: 0,
            log: vec![(facts[0].clone(), FENCE + 1, 0)],
        }
    }

    /// The same, from its facts, and from its image.
    pub(crate) fn copies(&self) -> [TextRegistration; 2] {
        let (first, rest) = self.log.split_first().expect("there is a first fact");
        let mut replayed = Registration::begin(&first.0).expect("the first fact begins it");
        rest.iter().for_each(|(fact, fence, at)| replayed.apply(fact, *fence, *at));
        let bytes = minicbor::to_vec(self.registration.image()).expect("memory takes it");
        let image: RegistrationImage = minicbor::decode(&bytes).expect("it was just written");
        [replayed, Registration::from_image(image)].map(|registration| TextRegistration {
            registration,
            fence: self.fence,
            last_at: self.last_at,
            log: self.log.clone(),
        })
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.log.iter().map(|(fact, _, _)| fact.kind())
    }

    pub(crate) fn picture(&self) -> Vec<u8> {
        let mut image = self.registration.image();
        image.sort();
        minicbor::to_vec(image).expect("memory takes it")
    }

    pub(crate) fn say(&mut self, asked: &str) -> String {
        let words: Vec<&str> = asked.split_whitespace().collect();
        let clock = seconds(words[0]);
        let now = clock.max(self.last_at);
        let mut written = Vec::new();
        let mut writer = StepWriter::new(now, self.fence, &mut written);
        let answer = match words[1] {
            "who" => return self.who(now),
            "sweep" => {
                let limit = words.get(2).map_or(64, |limit| limit.parse().expect("a limit"));
                self.registration.sweep(limit, &mut writer)
            }
            verb => {
                let command = command(verb, &words[2..]);
                self.registration.execute(&command, &mut writer)
            }
        };
        let own = |fact: Fact| {
            let Fact::Registration(fact) = fact else { panic!("{fact:?} of a registration") };
            fact
        };
        let facts: Vec<RegistrationFact> = written.into_iter().map(own).collect();
        for fact in &facts {
            let bytes = minicbor::to_vec(fact).expect("memory takes it");
            assert_eq!(minicbor::decode::<RegistrationFact>(&bytes).expect("it was just written"), *fact);
            self.fence += 1;
            self.last_at = now;
            self.log.push((fact.clone(), self.fence, now));
        }
        if let Err(wrong) = check_invariants(&self.registration) {
            panic!("{wrong} after {asked} -> {facts:?} {answer:?}");
        }
        let mut parts: Vec<String> = facts.iter().map(told).collect();
        match answer {
            Ok(Outcome::Done) => {}
            Ok(Outcome::AlreadyRegistered(own)) => {
                parts.push(format!("e{} of {} {}", own.entry.0, own.buyer.as_str(), standing(&own)));
            }
            Ok(other) => parts.push(format!("{other:?}").to_lowercase()),
            Err(refusal) => parts.push(match refusal.detail {
                Detail::Field { field, .. } => format!("{} {field}", refusal.code.as_str()),
                Detail::Limit { limit, taken } => format!("{} {taken}/{limit}", refusal.code.as_str()),
                Detail::None | Detail::Order(_) | Detail::MinNext(_) => refusal.code.as_str().into(),
            }),
        }
        parts.join(", ")
    }

    fn who(&self, now: Millis) -> String {
        let query = RegistrationQuery::Entries { after: 0, limit: 9 };
        let RegistrationFound::Entries(all) = self.registration.ask(&query, now) else {
            panic!("entries were asked for")
        };
        for entry in &all {
            let by_buyer = self.registration.ask(&RegistrationQuery::EntryOf(entry.buyer.clone()), now);
            let by_id = self.registration.ask(&RegistrationQuery::Entry(entry.entry), now);
            assert_eq!(by_buyer, by_id);
        }
        all.iter().map(|one| format!("e{} {}", one.entry.0, standing(one))).collect::<Vec<_>>().join(", ")
    }
}

fn standing(entry: &EntryState) -> String {
    match entry.standing {
        EntryStanding::Waiting { ahead } => format!("waits behind {ahead}"),
        EntryStanding::Offered { until, price_minor } => {
            format!("offered until {} for {price_minor}", until / 1_000)
        }
        EntryStanding::Confirmed { order: None } => "confirmed".into(),
        EntryStanding::Confirmed { order: Some(order) } => format!("paid by o{}", order.0),
    }
}

fn seconds(word: &str) -> Millis {
    let (seconds, ms) = word.split_once('.').unwrap_or((word, "0"));
    seconds.parse::<Millis>().expect("seconds") * 1_000 + ms.parse::<Millis>().expect("milliseconds")
}

fn command(verb: &str, words: &[&str]) -> RegistrationCommand {
    let number = |word: &str| word[1..].parse::<u64>().expect("a number behind a letter");
    let entry = |word: &str| EntryId(number(word));
    let buyer = |word: &str| BuyerId::parse(word).expect("a short name");
    let change = |change| RegistrationCommand::Change(Box::new(change));
    let none = ChangeRegistration::default;
    match (verb, words) {
        ("register", [id, who]) => {
            RegistrationCommand::Register(Register { entry: entry(id), buyer: buyer(who) })
        }
        ("confirm", [id, who, order, settled @ ..]) => RegistrationCommand::Confirm(ConfirmEntry {
            entry: entry(id),
            buyer: buyer(who),
            order: OrderId(number(order)),
            settled: settled == ["settled"],
        }),
        ("drop", [id, who]) => {
            RegistrationCommand::CancelEntry(CancelEntry { entry: entry(id), buyer: Some(buyer(who)) })
        }
        ("remove", [id]) => RegistrationCommand::CancelEntry(CancelEntry { entry: entry(id), buyer: None }),
        ("capacity", [capacity]) => {
            RegistrationCommand::ChangeCapacity { capacity: capacity.parse().expect("a capacity") }
        }
        ("price", [price]) => change(ChangeRegistration { price_minor: price.parse().ok(), ..none() }),
        ("opens", [at]) => change(ChangeRegistration { opens_at: Some(seconds(at)), ..none() }),
        ("starts", [at]) => change(ChangeRegistration { starts_at: Some(seconds(at)), ..none() }),
        ("cutoff", [ms]) => change(ChangeRegistration { cut_off_ms: Some(seconds(ms)), ..none() }),
        ("close", []) => RegistrationCommand::Close,
        ("cancel_all", []) => RegistrationCommand::Cancel,
        (verb, words) => panic!("cannot say {verb} {words:?}"),
    }
}

fn told(fact: &RegistrationFact) -> String {
    match fact {
        RegistrationFact::Created(_) => "created".into(),
        RegistrationFact::Changed(_) => "changed".into(),
        RegistrationFact::StatusChanged { status, by_schedule } => {
            format!("{}{}", status.as_str(), if *by_schedule { "" } else { "!" })
        }
        RegistrationFact::CapacityChanged { capacity } => format!("capacity {capacity}"),
        RegistrationFact::Registered { entry, .. } => format!("e{} registered", entry.0),
        RegistrationFact::Reserved { entry, price_minor, until, .. } => {
            format!("e{} kept until {} for {price_minor}", entry.0, until / 1_000)
        }
        RegistrationFact::Waitlisted { entry, ahead, .. } => format!("e{} waits behind {ahead}", entry.0),
        RegistrationFact::Promoted { entry, buyer } => format!("e{} of {} promoted", entry.0, buyer.as_str()),
        RegistrationFact::Offered { entry, buyer, price_minor, until } => {
            format!("e{} of {} offered until {} for {price_minor}", entry.0, buyer.as_str(), until / 1_000)
        }
        RegistrationFact::OfferLapsed { entry, buyer } => {
            format!("e{} of {} lapsed", entry.0, buyer.as_str())
        }
        RegistrationFact::Confirmed { entry, order } => format!("e{} paid by o{}", entry.0, order.0),
        RegistrationFact::EntryCancelled { entry, buyer, why, amount_minor } => {
            let by = if *why == EntryCancelCause::Buyer { "" } else { "!" };
            let back =
                if *amount_minor > 0 { format!(" and {amount_minor} paid back") } else { String::new() };
            format!("e{} of {} cancelled{by}{back}", entry.0, buyer.as_str())
        }
    }
}
