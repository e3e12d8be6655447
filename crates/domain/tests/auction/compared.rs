//! Random bidding, compared after every command with a naive second opinion that keeps all bids and works everything
//! out anew: ties, raises, ladder edges, reserves, purchases, retractions, bans, soft close.

use std::collections::BTreeMap;

use crate::lot::Lot;
use crate::reference::{End, Offer, Reference, Said, Terms};
use crate::world::{self, Dice, Step, bidder, command, create, next_step, number_of, terms};
use crate::{dice, given};
use onsale_domain::auction::fact::Closing;
use onsale_domain::auction::{AuctionCommand, AuctionFact};
use onsale_domain::{Command, Outcome, Refusal};

/// Three seconds of work.
const BIDS: u64 = 1_000_000;
const STEPS_MAX: u64 = 130;

#[test]
fn the_naive_rules_say_the_same_of_random_bids() {
    let asked = given("ONSALE_AUCTION_BIDS").and_then(|bids| bids.parse().ok());
    let (seed, wanted) = (dice::seed(), asked.unwrap_or(BIDS));
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let (mut bids, mut auctions) = (0, 0);
    while bids < wanted {
        let mut dice = Dice::new(seed.wrapping_add(auctions));
        match play(&mut dice, &mut seen) {
            Ok(placed) => bids += placed,
            Err(why) => panic!("ONSALE_SEED={} (first auction)\n{why}", seed.wrapping_add(auctions)),
        }
        auctions += 1;
    }
    println!("{bids} bids in {auctions} auctions: {seen:?}");
    let missing: Vec<_> = MUST_BE_SEEN.iter().filter(|what| !seen.contains_key(**what)).collect();
    dice::all_happened(seed, &missing);
}

const MUST_BE_SEEN: &[&str] = &[
    "leading",
    "outbid",
    "tie",
    "raise",
    "raise meets reserve",
    "leader's max exceeded by less than a step",
    "bought by a bid",
    "bought",
    "bought below min_next",
    "offer returned",
    "extended",
    "at the cap",
    "retracted leader",
    "retracted loser",
    "reserve missed again",
    "banned leader",
    "won",
    "closed, reserve not met",
    "closed, no bids",
    "not_started",
    "over",
    "seller",
    "banned",
    "currency",
    "off_tick",
    "leader_not_raising",
    "bid_too_low",
    "buy_now_gone",
    "bid_unknown",
    "retraction_not_allowed",
    "bid_not_latest",
    "retraction_late",
];

/// One auction to its end; how many bids were asked for.
fn play(dice: &mut Dice, seen: &mut BTreeMap<String, u64>) -> Result<u64, String> {
    let terms = terms(dice);
    let mut naive = Reference::new(terms.clone());
    let mut lot = Lot::default();
    lot.execute(&create(&terms), 0).1.map_err(|refusal| format!("{terms:?} is refused: {refusal:?}"))?;
    let (mut now, mut bids) = (0, 0);
    let mut told = Vec::new();
    for n in 0..dice.below(STEPS_MAX) {
        // What is over is asked a few times more.
        if naive.end.is_some() && dice.below(4) == 0 {
            break;
        }
        now += world::pause(dice, now, &naive);
        let step = next_step(dice, &naive);
        bids += u64::from(matches!(step, Step::Bid { .. }));
        let before = Before::of(&naive);
        let said = ask_naive(&mut naive, &step, now);
        let (facts, outcome) = lot.execute(&command(&step), now);
        let answer = ours(&facts, &outcome);
        told.push(format!("{now} {step:?} -> {answer:?}"));
        let complain = |why: String| format!("{terms:?}\n{}\nstep {n}: {why}", told.join("\n"));
        if answer != said {
            return Err(complain(format!("the naive rules say {said:?}")));
        }
        compare(&lot, &naive).map_err(complain)?;
        before.note(&naive, &step, &said, seen);
    }
    lot.check()?;
    if lot.replayed().map(|auction| auction.image()) != Some(lot.auction().image()) {
        return Err(format!("{terms:?}\n{}\nthe facts alone give another auction", told.join("\n")));
    }
    Ok(bids)
}

fn ask_naive(naive: &mut Reference, step: &Step, now: i64) -> Said {
    match *step {
        Step::Bid { who, max, right_currency } => naive.bid(who, max, right_currency, now),
        Step::Buy { who } => naive.buy(who, now),
        Step::Retract { number, by } => naive.retract(number, by, now),
        Step::Ban { who } => naive.ban(who, now),
        Step::Sweep => {
            let open = naive.end.is_none();
            naive.wake(now);
            if open && naive.end.is_some() { Said::Done } else { Said::Unchanged }
        }
    }
}

/// Our answer in the naive words.
fn ours(facts: &[AuctionFact], outcome: &Result<Outcome, Refusal>) -> Said {
    match (outcome, facts.last()) {
        (Err(refusal), _) => Said::No(refusal.code.as_str()),
        (Ok(Outcome::Unchanged), _) => Said::Unchanged,
        (Ok(_), Some(AuctionFact::BidPlaced { leading: true, .. })) => Said::Leading,
        (Ok(_), Some(AuctionFact::BidPlaced { .. })) => Said::Outbid,
        (Ok(_), Some(AuctionFact::AuctionClosed { how: Closing::BoughtNow, .. })) => Said::Bought,
        (Ok(_), _) => Said::Done,
    }
}

fn compare(lot: &Lot, naive: &Reference) -> Result<(), String> {
    let view = lot.auction().view();
    let pairs = [
        ("leader", view.leader.as_ref().map(number_of), naive.leader().map(|(who, _)| i64::from(who))),
        ("price", view.price_minor, naive.price()),
        ("min_next", Some(view.min_next_minor), Some(naive.min_next())),
        ("end", Some(view.ends_at), Some(naive.ends())),
        ("buy now", view.buy_now_minor, naive.on_offer()),
        ("bids", Some(i64::from(view.bids)), Some(naive.count() as i64)),
    ];
    for (what, ours, theirs) in pairs {
        if ours != theirs {
            return Err(format!("{what} is {ours:?}, by the naive rules {theirs:?}"));
        }
    }
    let ours = view.closed.as_ref().map(|closed| {
        let award = closed.awards.first().map(|line| &line.award);
        let paid = award.map(|award| (number_of(&award.bidder) as u8, award.price_minor));
        match (closed.how, paid) {
            (Closing::Won, Some((who, price))) => End::Won { who, price },
            (Closing::BoughtNow, Some((who, price))) => End::Bought { who, price },
            (Closing::ReserveNotMet, None) => End::ReserveNotMet,
            (Closing::NoBids, None) => End::NoBids,
            other => panic!("{other:?} is no close"),
        }
    });
    if ours != naive.end {
        return Err(format!("it ended {ours:?}, by the naive rules {:?}", naive.end));
    }
    Ok(())
}

/// What was so before a step, to tell what it met.
struct Before {
    leader: Option<(u8, i64)>,
    ends: i64,
    min_next: i64,
    reserve_met: bool,
    on_offer: bool,
    open: bool,
}

impl Before {
    fn of(naive: &Reference) -> Before {
        Before {
            leader: naive.leader(),
            ends: naive.ends(),
            min_next: naive.min_next(),
            reserve_met: naive.reserve_met(),
            on_offer: naive.on_offer().is_some(),
            open: naive.end.is_none(),
        }
    }

    fn note(&self, naive: &Reference, step: &Step, said: &Said, seen: &mut BTreeMap<String, u64>) {
        let mut note = |what: &str| *seen.entry(what.to_owned()).or_default() += 1;
        if let Said::No(code) = said {
            note(code);
        }
        if self.open {
            match naive.end {
                Some(End::Won { .. }) => note("won"),
                Some(End::ReserveNotMet) => note("closed, reserve not met"),
                Some(End::NoBids) => note("closed, no bids"),
                Some(End::Bought { .. }) | None => {}
            }
        }
        if self.open && naive.end.is_none() && !self.on_offer && naive.on_offer().is_some() {
            note("offer returned");
        }
        if self.reserve_met && !naive.reserve_met() && naive.terms.reserve.is_some() {
            note("reserve missed again");
        }
        let led = |who: u8| self.leader.is_some_and(|(leader, _)| leader == who);
        match *step {
            Step::Bid { who, max, .. } => match said {
                Said::Leading | Said::Outbid => {
                    note(if *said == Said::Leading { "leading" } else { "outbid" });
                    let top = self.leader.map(|(_, top)| top);
                    if led(who) {
                        note("raise");
                        if naive.terms.reserve.is_some() && !self.reserve_met && naive.reserve_met() {
                            note("raise meets reserve");
                        }
                    } else if top == Some(max) {
                        note("tie");
                    } else if top.is_some_and(|top| top < max) && naive.price() == Some(max) {
                        note("leader's max exceeded by less than a step");
                    }
                    if naive.ends() != self.ends {
                        note("extended");
                    }
                    let cap = naive.terms.soft.as_ref().map(|soft| naive.terms.ends + soft.cap);
                    if cap == Some(self.ends) {
                        note("at the cap");
                    }
                }
                Said::Bought => {
                    note("bought by a bid");
                    if max < self.min_next {
                        note("bought below min_next");
                    }
                }
                Said::Done | Said::Unchanged | Said::No(_) => {}
            },
            Step::Buy { .. } if *said == Said::Bought => note("bought"),
            Step::Retract { .. } if *said == Said::Done => {
                note(if naive.leader() == self.leader { "retracted loser" } else { "retracted leader" });
            }
            Step::Ban { who } if *said == Said::Done && led(who) => note("banned leader"),
            Step::Buy { .. } | Step::Retract { .. } | Step::Ban { .. } | Step::Sweep => {}
        }
    }
}

#[test]
fn ten_thousand_bids_and_no_more_but_a_purchase() {
    let terms = Terms {
        start: 1,
        tick: 1,
        steps: vec![(0, 1)],
        reserve: None,
        buy_now: Some((5_000_000, Offer::Always)),
        soft: None,
        bidders_may_retract: false,
        opens: 0,
        ends: 1_000,
    };
    let mut lot = Lot::default();
    lot.execute(&create(&terms), 0).1.expect("an auction");
    let mut ask = |step: Step| {
        let (facts, outcome) = lot.execute(&command(&step), 5);
        ours(&facts, &outcome)
    };
    let bid = |n: u64| Step::Bid {
        who: 1 + (n % 5) as u8,
        max: 10 + 2 * n as i64 + 7 * (n % 3) as i64,
        right_currency: true,
    };
    let (mut accepted, mut n) = (0, 0);
    while accepted < 10_000 {
        accepted += u32::from(matches!(ask(bid(n)), Said::Leading | Said::Outbid));
        n += 1;
    }
    let enough = |max| Step::Bid { who: 6, max, right_currency: true };
    assert_eq!(ask(enough(4_000_000)), Said::No("bids_full"));
    assert_eq!(ask(enough(1)), Said::No("bid_too_low"));
    // A place is not given back: what a replay costs stays bounded.
    assert_eq!(ask(Step::Retract { number: 9_990, by: None }), Said::Done);
    assert_eq!(ask(enough(4_000_000)), Said::No("bids_full"));
    assert_eq!(ask(enough(5_000_000)), Said::Bought);
    lot.check().expect("it adds up");
    assert_eq!(lot.reread().map(|auction| auction.image()), Some(lot.auction().image()));
    assert_eq!(lot.replayed().map(|auction| auction.image()), Some(lot.auction().image()));
}

#[test]
fn watchers_and_bans_have_their_bounds() {
    let mut lot = Lot::default();
    let mut dice = Dice::new(1);
    lot.execute(&create(&Terms { opens: 0, ..terms(&mut dice) }), 0).1.expect("an auction");
    for (n, code) in [(10_000u32, None), (10_001, Some("watchers_full"))] {
        let from = if code.is_some() { n } else { 1 };
        for n in from..=n {
            let (_, outcome) =
                lot.execute(&Command::Auction(AuctionCommand::WatchAuction(bidder(1_000 + n))), 0);
            assert_eq!(outcome.err().map(|refusal| refusal.code.as_str()), code);
        }
    }
    for n in 1..=10_001u32 {
        let ban = command(&Step::Ban { who: 0 });
        let Command::Auction(AuctionCommand::BanBidder(mut ban)) = ban else { panic!("a ban") };
        ban.bidder = bidder(50_000 + n);
        let (_, outcome) = lot.execute(&Command::Auction(AuctionCommand::BanBidder(ban)), 0);
        let code = outcome.err().map(|refusal| refusal.code.as_str());
        assert_eq!(code, (n > 10_000).then_some("bans_full"));
    }
    lot.check().expect("it adds up");
    assert_eq!(lot.reread().map(|auction| auction.image()), Some(lot.auction().image()));
}
