//! The tables of auctions over the port: the same text that the domain's own tests play, asked of an engine. What only
//! the domain can tell (its next deadline, when it may be forgotten) is passed over.

use onsale_domain::auction::limits::LENGTH_MS_MAX;
use onsale_domain::auction::{
    AuctionCommand, AuctionDetails, AuctionFact, AuctionFound, AuctionQuery, AuctionView, Reserve,
};
use onsale_domain::{Command, Fact, ListingId, ListingKind, Millis, Tenant};
use onsale_domain::{Found, Query};
pub(super) use onsale_tables::auction::tables as all;
use onsale_tables::auction::{change, command, name, say, say_outcome, say_time, time, usual};

use super::Harness;
use super::table::ZERO;
use crate::engine::{BodyView, Position, Request};

const AUCTION: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Auction, number: 1 };

/// One table on its way: the auction as it is to be made, and the end that was told last.
struct Game<'a> {
    harness: &'a mut dyn Harness,
    details: AuctionDetails,
    end: Millis,
    base: Millis,
}

/// Plays a table, with a restart before every line if it shall be; the error is every line that was answered otherwise.
pub(super) fn play(lines: &str, harness: &mut dyn Harness, restarts: bool) -> Result<(), String> {
    // The tables begin at 0, which for some stores means their own clock.
    let base = ZERO;
    let (mut exists, mut wrong) = (true, Vec::new());
    let mut game = Game { harness, details: usual(), end: 0, base };
    for line in lines.lines().map(|line| line.split(" # ").next().unwrap_or(line).trim()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(words) = line.strip_prefix("auction ") {
            change(&mut game.details, words);
            continue;
        }
        if line == "no auction" {
            exists = false;
            continue;
        }
        let (line, expected) = line.split_once("->").unwrap_or((line, ""));
        let (at, asked) = line.trim().split_once(' ').ok_or_else(|| format!("`{line}` has no time"))?;
        if game.harness.engine().view(&AUCTION).is_none() && exists {
            game.harness.set_clock(base);
            let told = game.ask("create");
            if told != "created" {
                return Err(format!("the auction could not be made: {told}"));
            }
        }
        if restarts {
            game.harness.restart();
        }
        game.harness.set_clock(base + time(at));
        let asked = asked.trim();
        if matches!(asked, "due" | "retires") {
            continue;
        }
        let told = game.ask(asked);
        if told != expected.trim() {
            wrong.push(format!("{line}-> {told}\n    not: {}", expected.trim()));
        }
        game.harness.check_invariants(&AUCTION)?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime for one thread can be built").block_on(future)
}

impl Game<'_> {
    fn ask(&mut self, asked: &str) -> String {
        let Some(command) = command(asked, &self.details) else { return self.read(asked) };
        let command = later(command, self.base);
        let mut end = self.view().map_or(self.end, |view| view.ends_at);
        let request = Request { listing: AUCTION, command, key: None, by: None };
        let answer = block(self.harness.engine().submit(request)).expect("answers");
        let mut told: Vec<String> = Vec::new();
        for (_, fact) in answer.facts() {
            let Fact::Auction(fact) = fact else { panic!("{fact:?} happened to an auction") };
            told.push(say(&earlier(fact, self.base), end));
            end = self.view().expect("a fact makes a view").ends_at;
        }
        let outcome = answer.outcome.refused().cloned().map_or_else(|| Ok(answer.outcome.clone()), Err);
        told.extend(say_outcome(&outcome));
        let view = self.harness.engine().view(&AUCTION);
        assert_eq!(view.map_or(Position::default(), |view| view.position).offset, answer.position.offset);
        told.join("; ")
    }

    fn view(&self) -> Option<AuctionView> {
        let view = self.harness.engine().view(&AUCTION)?;
        let BodyView::Auction(view) = &view.body else { panic!("another kind of view") };
        Some(AuctionView { ends_at: view.ends_at - self.base, ..view.clone() })
    }

    fn found(&self, query: AuctionQuery) -> AuctionFound {
        let found = block(self.harness.engine().ask(AUCTION, Query::Auction(query))).expect("answers");
        let Found::Auction(found) = found else { panic!("{found:?}") };
        found
    }

    fn last_fact(&self) -> AuctionFact {
        let log = block(self.harness.engine().facts_after(AUCTION, Position::default(), 10_000));
        let last = log.expect("reads").steps.pop().and_then(|step| step.facts.last().cloned());
        let Some(Fact::Auction(last)) = last else { panic!("{last:?}") };
        earlier(&last, self.base)
    }

    fn read(&self, asked: &str) -> String {
        let view = self.view().expect("an auction is read");
        let now = self.harness.engine().now();
        let list = |names: Vec<String>| if names.is_empty() { "nothing".into() } else { names.join(", ") };
        match asked.split_whitespace().collect::<Vec<_>>()[..] {
            ["status"] => {
                let ends_at = view.ends_at + self.base;
                AuctionView { ends_at, ..view }.status_at(now).as_str().into()
            }
            ["price"] => view.price_minor.map_or("none".into(), |price| price.to_string()),
            ["next"] => view.min_next_minor.to_string(),
            ["end"] => say_time(view.ends_at),
            ["original"] => say_time(view.details.ends_at - self.base),
            ["offer"] => view.buy_now_minor.map_or("none".into(), |price| price.to_string()),
            ["counts"] => format!("{} bids {} bidders {} watchers", view.bids, view.bidders, view.watchers),
            ["leader"] => view.leader.map_or("nobody".into(), |leader| leader.as_str().to_owned()),
            ["reserve"] => match view.reserve {
                Reserve::None => "none".into(),
                Reserve::NotMet => "not met".into(),
                Reserve::Met => "met".into(),
            },
            ["history", ref rest @ ..] => {
                let before = rest.get(1).map(|bid| bid.trim_start_matches('#').parse().expect("a number"));
                let found = self.found(AuctionQuery::History { before, limit: 3 });
                let AuctionFound::History(lines) = found else { panic!("{found:?}") };
                list(Vec::from_iter(lines.iter().map(|line| {
                    let amount = line.amount_minor.map_or("retracted".into(), |amount| amount.to_string());
                    let leads = if line.leading { " leads" } else { "" };
                    format!("#{} {:?} {amount}{leads}", line.bid, line.bidder)
                })))
            }
            ["watchers", ref rest @ ..] => {
                let after = rest.get(1).map(|who| name(who));
                let limit = if after.is_some() { 1 } else { 100 };
                let found = self.found(AuctionQuery::Watchers { after, limit });
                let AuctionFound::Watchers(names) = found else { panic!("{found:?}") };
                list(names.iter().map(|name| name.as_str().to_owned()).collect())
            }
            ["me", who] => match self.found(AuctionQuery::Bidder(name(who))) {
                AuctionFound::Nothing => "nothing".into(),
                AuctionFound::Bidder(own) => {
                    let mut told = Vec::new();
                    told.extend(own.leading.then(|| "leading".to_owned()));
                    told.extend(own.max_minor.map(|max| format!("max {max}")));
                    told.extend(own.latest.map(|latest| format!("latest #{latest} of {}", own.bids)));
                    told.extend(own.watching.then(|| "watching".to_owned()));
                    told.extend(own.banned.then(|| "banned".to_owned()));
                    told.extend(
                        own.award.map(|(award, state)| format!("{state:?} at {}", award.price_minor)),
                    );
                    list(told)
                }
                other @ (AuctionFound::History(_) | AuctionFound::Watchers(_)) => panic!("{other:?}"),
            },
            ["public"] => format!("{:?}", self.last_fact().public()),
            _ => panic!("`{asked}` asks for nothing"),
        }
    }
}

/// A command of a table whose times begin at `base`; a time that no auction may have stays one.
fn later(mut command: Command, base: Millis) -> Command {
    let shift = |time: &mut Millis| {
        if (0..=10 * LENGTH_MS_MAX).contains(time) {
            *time += base;
        }
    };
    if let Command::Auction(AuctionCommand::CreateAuction(details)) = &mut command {
        [&mut details.starts_at, &mut details.ends_at].into_iter().for_each(shift);
    } else if let Command::Auction(AuctionCommand::ChangeAuction(change)) = &mut command {
        change.starts_at.iter_mut().chain(&mut change.ends_at).for_each(shift);
    }
    command
}

/// A fact as its table tells it.
fn earlier(fact: &AuctionFact, base: Millis) -> AuctionFact {
    let mut told = fact.clone();
    if let AuctionFact::BidPlaced { ends_at, .. } = &mut told {
        *ends_at -= base;
    } else if let AuctionFact::AuctionClosed { award, .. } | AuctionFact::AwardPassed { to: award, .. } =
        &mut told
    {
        award.iter_mut().for_each(|award| award.until -= base);
    } else if let AuctionFact::AuctionCreated(details) | AuctionFact::AuctionChanged(details) = &mut told {
        details.starts_at -= base;
        details.ends_at -= base;
    }
    told
}
