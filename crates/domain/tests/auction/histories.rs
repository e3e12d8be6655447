//! Random histories of one small auction through all its verbs: whatever is asked, it adds up, nothing secret is
//! shown, and facts or image alone give the same auction. `ONSALE_SEED=<number>` repeats a run; a failure prints its
//! seed and the shortest history that shows it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::dice;
use crate::lot::Lot;
use onsale_domain::Command;
use onsale_domain::Millis;
use onsale_domain::auction::{
    Auction, AuctionCommand, AuctionDetails, AuctionFact, AuctionFound, AuctionQuery, AuctionView,
};
use onsale_tables::auction::{change, command, usual};
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, TestCaseError, TestRunner};

const CASES: u32 = 1_500;
const STEPS_MAX: usize = 100;
const PEOPLE: [&str; 6] = [
    "sam",
    "ann",
    "bob",
    "usr_00000000000000000000000cem",
    "ext:merchant:a-long-name",
    "ext:merchant:a-longer-name",
];

#[test]
fn every_history_adds_up_and_can_be_replayed() {
    let seed = dice::seed();
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, dice::rng(seed));
    let asks = proptest::collection::vec(any::<[u8; 5]>(), 1..STEPS_MAX);
    let kinds = RefCell::new(BTreeSet::new());
    let cases = (any::<[u8; 4]>(), asks).prop_map(|(terms, asks)| (terms, asks));
    let result = runner.run(&cases, |(terms, asks)| {
        play(terms, &asks, &mut kinds.borrow_mut()).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("ONSALE_SEED={seed}\n{error}");
    }
    let missing: Vec<_> = AuctionFact::KINDS
        .iter()
        // Where nothing is ordered, nothing is paid back.
        .filter(|kind| !kinds.borrow().contains(*kind) && **kind != "award_refunded")
        .collect();
    dice::all_happened(seed, &missing);
}

fn details(terms: [u8; 4]) -> AuctionDetails {
    let pick = |n: usize, list: &[&'static str]| list[usize::from(terms[n]) % list.len()];
    let mut details = usual();
    let words = [
        "opens=20s ends=600s start=100",
        pick(0, &["inc=10", "inc=ebay_us", "inc=0:10,150:30,300:5"]),
        pick(1, &["reserve=none", "reserve=160", "reserve=100"]),
        pick(2, &["tick=1", "buy=400/always", "buy=300/first_bid", "buy=350/reserve_met"]),
        pick(
            3,
            &["retract=staff", "soft=add/60s/60s,20s/300s", "soft=reset/60s/40s/100s", "retract=bidders"],
        ),
    ];
    change(&mut details, &words.join(" "));
    details
}

/// Five bytes become a pause and a line of the tables' language.
fn line(ask: [u8; 5], bids: u32) -> (Millis, String) {
    let [verb, who, a, b, pause] = ask;
    let who = PEOPLE[usize::from(who) % PEOPLE.len()];
    let pause = match pause {
        0..=2 => 50 * 3_600_000,
        3..=6 => 300_000,
        7..=90 => 0,
        _ => Millis::from(pause) * 40,
    };
    let number = bids.saturating_sub(u32::from(a % 5));
    let line = match verb % 32 {
        0..=16 => format!("bid {who} {}", 90 + u32::from(a) + u32::from(b) / 4),
        17 => format!("buy {who}"),
        18..=19 => format!("retract #{number}"),
        20 => format!("retract #{number} by {who}"),
        21 if b > 100 => format!("unban {who}"),
        21 => format!("ban {who}"),
        22 if b == 7 => "cancel".into(),
        22..=23 => format!("settle {who}"),
        24 => format!("decline {who}"),
        25..=27 => format!("watch {who}"),
        28 => format!("unwatch {who}"),
        29 => format!("change name=n{a} start={}", 90 + b % 20),
        30 => format!("change name=n{a}"),
        _ => "sweep".into(),
    };
    (pause, line)
}

/// Plays a history on the auction itself and, from the middle on, on two made from its facts and its image.
fn play(terms: [u8; 4], asks: &[[u8; 5]], kinds: &mut BTreeSet<&'static str>) -> Result<(), String> {
    let details = details(terms);
    let mut lot = Lot::default();
    let created = lot.execute(&Command::Auction(AuctionCommand::CreateAuction(Box::new(details.clone()))), 0);
    created.1.map_err(|refusal| format!("{refusal:?}"))?;
    let mut others: Vec<Auction> = Vec::new();
    let mut now = 0;
    for (n, ask) in asks.iter().enumerate() {
        if n == asks.len() / 2 {
            others = [lot.replayed(), lot.reread()].into_iter().flatten().collect();
        }
        let (pause, line) = line(*ask, lot.auction().view().bids);
        now += pause;
        let asked = command(&line, &details).ok_or_else(|| format!("`{line}` is no command"))?;
        let before = lot.auction().view();
        let (facts, outcome) = lot.execute(&asked, now);
        let told = || format!("step {n} at {now}: {line} -> {outcome:?} with {facts:?}");
        lot.check().map_err(|why| format!("{}: {why}", told()))?;
        check_change(&before, &lot, &facts).map_err(|why| format!("{}: {why}", told()))?;
        check_secrets(lot.auction(), &facts).map_err(|why| format!("{}: {why}", told()))?;
        for other in &mut others {
            let (same, answer) = crate::lot::asked(other, &asked, now);
            if answer != outcome || same != facts {
                return Err(format!("{}, but a copy said {answer:?} with {same:?}", told()));
            }
        }
        kinds.extend(facts.iter().map(AuctionFact::kind));
    }
    kinds.insert(lot.log[0].1.kind());
    others.extend(lot.replayed());
    let image = lot.auction().image();
    match others.iter().map(Auction::image).find(|other| *other != image) {
        Some(other) => Err(format!("the auction is\n{image:?}\na copy\n{other:?}")),
        None => Ok(()),
    }
}

/// The price falls only by retraction, the end never; a result is final; a command has few facts.
fn check_change(before: &AuctionView, lot: &Lot, facts: &[AuctionFact]) -> Result<(), String> {
    let after = lot.auction().view();
    let retracted = facts.iter().any(|fact| ["bid_retracted", "bidder_banned"].contains(&fact.kind()));
    if !retracted && before.price_minor > after.price_minor {
        return Err(format!("the price fell from {:?} to {:?}", before.price_minor, after.price_minor));
    }
    if after.ends_at < before.ends_at {
        return Err("the end moved back".into());
    }
    let closes = lot.log.iter().filter(|(_, fact)| fact.kind() == "auction_closed").count();
    if closes > 1 || (before.closed.is_some() && before.price_minor != after.price_minor) {
        return Err(format!("closed {closes} times"));
    }
    if facts.len() > 3 {
        return Err("more than a close, an award and a verb".into());
    }
    Ok(())
}

/// Nobody but its bidder sees more of a bid than the price.
fn check_secrets(auction: &Auction, facts: &[AuctionFact]) -> Result<(), String> {
    let price = auction.view().price_minor.unwrap_or(0);
    let found = auction.ask(&AuctionQuery::History { before: None, limit: 1_000 });
    let AuctionFound::History(lines) = found else { return Err(format!("{found:?} is no history")) };
    if let Some(line) = lines.iter().find(|line| line.amount_minor.is_some_and(|amount| amount > price)) {
        return Err(format!("history shows {line:?} at a price of {price}"));
    }
    for fact in facts {
        if let AuctionFact::BidPlaced { max_minor, price_minor, .. } = fact.public()
            && max_minor > price_minor
        {
            return Err(format!("the public reads {:?}", fact.public()));
        }
    }
    Ok(())
}
