//! The rules of auctions as tables: `tables/src/auction/*.txt`. A line is a time, a command and, behind the arrow,
//! everything that comes of it. Each table runs as it is and once more with the auction read back from its image
//! before every line; after it the facts alone must give the same auction. `ONSALE_TABLE=word` runs some only.

use std::collections::BTreeSet;

use crate::lot::Lot;
use onsale_domain::auction::{AuctionDetails, AuctionFound, AuctionQuery, BidAnswer, BidStanding, Reserve};
use onsale_domain::{Millis, Outcome};
use onsale_tables::auction::{change, command, name, say, say_outcome, say_time, tables, time, usual};

macro_rules! tables {
    ($($name:ident,)*) => {
        const PLAYED: &[&str] = &[$(stringify!($name),)*];
    $(
        #[test]
        fn $name() {
            run(stringify!($name));
        }
    )*};
}

#[test]
fn every_file_of_tables_is_played() {
    let files: BTreeSet<&str> = tables().iter().map(|table| table.file).collect();
    assert_eq!(files, BTreeSet::from_iter(PLAYED.iter().copied()));
}

tables! { award, ban, bid, buy_now, currency, increment, life, reserve, retract, soft_close, watch, }

fn run(file: &str) {
    let wanted = crate::given("ONSALE_TABLE").unwrap_or_default();
    let mut wrong = Vec::new();
    let mut seen = 0;
    let tables = tables().into_iter().filter(|table| table.file == file);
    for table in tables.filter(|table| table.name.contains(&wanted)) {
        seen += 1;
        for reread in [false, true] {
            if let Err(why) = play(table.text, reread) {
                wrong.push(format!("== {}{}\n{why}", table.name, if reread { " (reread)" } else { "" }));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    assert!(seen > 0 || !wanted.is_empty(), "there is no table");
}

/// Plays one table; the error shows every line that answered otherwise.
fn play(lines: &str, reread: bool) -> Result<(), String> {
    let mut details = usual();
    let mut lot = Lot::default();
    let mut wrong = Vec::new();
    let mut exists = true;
    for line in lines.lines().map(|line| line.split(" # ").next().unwrap_or(line).trim()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(words) = line.strip_prefix("auction ") {
            change(&mut details, words);
            continue;
        }
        if line == "no auction" {
            exists = false;
            continue;
        }
        let (line, expected) = line.split_once("->").unwrap_or((line, ""));
        let (at, asked) = line.trim().split_once(' ').ok_or_else(|| format!("`{line}` has no time"))?;
        let now = time(at);
        if lot.auction.is_none() && exists {
            let create = command("create", &details).expect("a command");
            let (_, outcome) = lot.execute(&create, 0);
            outcome.map_err(|refusal| format!("the auction could not be made: {refusal:?}"))?;
        }
        if reread && lot.auction.is_some() {
            lot.auction = lot.reread();
        }
        let told = ask(&mut lot, &details, asked.trim(), now);
        lot.check().map_err(|why| format!("after `{line}`: {why}"))?;
        if told != expected.trim() {
            wrong.push(format!("{line}-> {told}\n    not: {}", expected.trim()));
        }
    }
    if let Some(auction) = &lot.auction {
        let replayed = lot.replayed().expect("facts were written");
        if replayed.image() != auction.image() {
            wrong.push("the facts alone give another auction".into());
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn ask(lot: &mut Lot, details: &AuctionDetails, asked: &str, now: Millis) -> String {
    let now = now.max(lot.last_at);
    let Some(command) = command(asked, details) else { return read(lot, asked, now) };
    let first = lot.log.len() as u64 + 1;
    let mut end = lot.auction.as_ref().map_or(details.ends_at, |auction| auction.view().ends_at);
    let (facts, outcome) = lot.execute(&command, now);
    if matches!(asked.split(' ').next(), Some("bid" | "buy")) && outcome == Ok(Outcome::Done) {
        let numbered = facts.iter().enumerate().map(|(n, fact)| (first + n as u64, fact));
        check_answer(lot, &BidAnswer::of(numbered).expect("a yes has an answer"));
    }
    let mut told: Vec<String> = Vec::new();
    for fact in &facts {
        told.push(say(fact, end));
        end = lot.auction().view().ends_at;
    }
    told.extend(say_outcome(&outcome));
    told.join("; ")
}

/// The answer of a yes is what the view shows right after it.
fn check_answer(lot: &Lot, answer: &BidAnswer) {
    let view = lot.auction().view();
    assert_eq!(answer.offset, lot.log.len() as u64);
    match answer.standing {
        BidStanding::Leading | BidStanding::Outbid => {
            assert_eq!((Some(answer.price_minor), answer.until), (view.price_minor, view.ends_at));
            assert_eq!(answer.min_next_minor, Some(view.min_next_minor));
            assert_eq!(answer.bid, Some(view.bids));
        }
        BidStanding::Bought => assert!(view.closed.is_some_and(|closed| {
            closed.pending().map(|award| (award.price_minor, award.until))
                == Some((answer.price_minor, answer.until))
        })),
    }
}

fn read(lot: &Lot, asked: &str, now: Millis) -> String {
    let auction = lot.auction();
    let view = auction.view();
    let words: Vec<&str> = asked.split_whitespace().collect();
    let list = |names: Vec<String>| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    match words[..] {
        ["status"] => {
            assert_eq!(auction.status_at(now), view.status_at(now));
            view.status_at(now).as_str().into()
        }
        ["price"] => view.price_minor.map_or("none".into(), |price| price.to_string()),
        ["next"] => view.min_next_minor.to_string(),
        ["end"] => say_time(view.ends_at),
        ["original"] => say_time(view.details.ends_at),
        ["due"] => auction.next_due().map_or("never".into(), say_time),
        ["retires"] => auction.retires_at().map_or("not yet".into(), say_time),
        ["offer"] => view.buy_now_minor.map_or("none".into(), |price| price.to_string()),
        ["counts"] => format!("{} bids {} bidders {} watchers", view.bids, view.bidders, view.watchers),
        ["leader"] => view.leader.map_or("nobody".into(), |leader| leader.as_str().to_owned()),
        ["reserve"] => match view.reserve {
            Reserve::None => "none".into(),
            Reserve::NotMet => "not met".into(),
            Reserve::Met => "met".into(),
        },
        ["history"] | ["history", ..] => {
            let before = words.get(2).map(|number| number.trim_start_matches('#').parse().expect("a number"));
            let found = auction.ask(&AuctionQuery::History { before, limit: 3 });
            let AuctionFound::History(lines) = found else { panic!("{found:?}") };
            list(Vec::from_iter(lines.iter().map(|line| {
                let amount = line.amount_minor.map_or("retracted".into(), |amount| amount.to_string());
                format!(
                    "#{} {:?} {amount}{}",
                    line.bid,
                    line.bidder,
                    if line.leading { " leads" } else { "" }
                )
            })))
        }
        ["watchers"] => {
            let found = auction.ask(&AuctionQuery::Watchers { after: None, limit: 100 });
            let AuctionFound::Watchers(names) = found else { panic!("{found:?}") };
            list(names.iter().map(|name| name.as_str().to_owned()).collect())
        }
        ["watchers", "after", who] => {
            let found = auction.ask(&AuctionQuery::Watchers { after: Some(name(who)), limit: 1 });
            let AuctionFound::Watchers(names) = found else { panic!("{found:?}") };
            list(names.iter().map(|name| name.as_str().to_owned()).collect())
        }
        ["me", who] => match auction.ask(&AuctionQuery::Bidder(name(who))) {
            AuctionFound::Nothing => "nothing".into(),
            AuctionFound::Bidder(own) => {
                let mut told = Vec::new();
                told.extend(own.leading.then(|| "leading".to_owned()));
                told.extend(own.max_minor.map(|max| format!("max {max}")));
                told.extend(own.latest.map(|latest| format!("latest #{latest} of {}", own.bids)));
                told.extend(own.watching.then(|| "watching".to_owned()));
                told.extend(own.banned.then(|| "banned".to_owned()));
                told.extend(own.award.map(|(award, state)| format!("{state:?} at {}", award.price_minor)));
                list(told)
            }
            other @ (AuctionFound::History(_) | AuctionFound::Watchers(_)) => panic!("{other:?}"),
        },
        ["public"] => {
            let (_, fact) = lot.log.last().expect("something happened");
            format!("{:?}", fact.public())
        }
        _ => panic!("`{asked}` asks for nothing"),
    }
}
