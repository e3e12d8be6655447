//! Our engine on Redis: how fast its script is bare, beside the seed's, what a held seat weighs there, and
//! what we add to a failover. Everything is asked of private servers with the AOF flushed every second. Over HTTP:
//! `http.rs`.

mod auctions;
mod bids;
mod cluster;
mod drive;
mod failover;
mod memory;
mod sales;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use onsale_domain::{BuyerId, Command, ListingId, ListingKind};
use onsale_engine_redis::caller::{ScriptCall, ScriptCaller, Stamp};
use onsale_engine_redis::commands::Terms;
use onsale_engine_redis::layout::{COMPACT_FROM, Layout};
use onsale_engine_redis::link::Config;
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;
use onsale_engine_redis::scripts::Name;
use onsale_engine_redis::{Link, Scripts};

use super::engine::block_on_all;
use super::hall;
use crate::contest::{Contestant, Round};
use crate::rivals::redis::resp;
use crate::rivals::redis::{Flush, Instance};
use drive::{Limit, Source, run};

/// Making an event of many seats takes longer than any decision.
const PATIENCE_MS: u64 = 30_000;

/// What the scripts begin an accepted call's answer with.
const OUR_YES: i64 = 0;
const SEEDS_YES: i64 = 1;

pub(crate) fn contestants(folder: &Path) -> Vec<Box<dyn Contestant>> {
    let instance = |name: &str| Instance::new(Flush::EverySecond, folder.join(name));
    vec![
        Box::new(SeedLocks { instance: instance("redis-seed") }),
        Box::new(OurHolds {
            instance: instance("redis-hash"),
            subject: "redis_hold_script",
            events: 16,
            seats: 9_000,
        }),
        Box::new(OurHolds {
            instance: instance("redis-compact"),
            subject: "redis_hold_script_large",
            events: 2,
            seats: 100_000,
        }),
        Box::new(sales::SeedCheckouts {
            instance: instance("redis-seed-sale"),
            subject: "redis_seed_checkout",
        }),
        Box::new(sales::SeedCheckouts {
            instance: Instance::new(Flush::Always, folder.join("redis-always-sale")),
            subject: "redis_always_checkout_p16",
        }),
        Box::new(bids::SeedBids {
            instance: Instance::new(Flush::Always, folder.join("redis-always-auction")),
            subject: "redis_always_bid_p16",
        }),
        Box::new(bids::SeedBids { instance: instance("redis-seed-auction"), subject: "redis_seed_bid" }),
        Box::new(bids::OurBids { instance: instance("redis-auction") }),
        Box::new(sales::OurCheckouts { instance: instance("redis-sale") }),
        Box::new(memory::BytesPerHeldSeat { instance: instance("redis-memory") }),
        Box::new(auctions::AuctionsBytes { instance: instance("redis-auctions-memory") }),
        Box::new(failover::Failover::new(folder)),
    ]
}

/// The corrected script of the seed, locks alone.
struct SeedLocks {
    instance: Instance,
}

impl Contestant for SeedLocks {
    fn subject(&self) -> String {
        "redis_seed_script".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        self.instance.clear()?;
        let acquire = self.instance.scripts()?.acquire;
        let mut next = 0u64;
        let source = move |into: &mut Vec<u8>| {
            next += 1;
            let (seat, user) = (format!("S{next}"), format!("usr_{}", next % 50));
            let (lock, queue) =
                (format!("seat:lock:{{evt_1}}:{seat}"), format!("seat:queue:{{evt_1}}:{seat}"));
            let locks = format!("user:locks:{{evt_1}}:{user}");
            let keys = [lock.as_str(), &queue, &locks, "seat:sold:{evt_1}", "seat:fence:{evt_1}"];
            let words = ["EVALSHA", &acquire, "5"].into_iter().chain(keys);
            let words: Vec<_> = words.chain([user.as_str(), &seat, "1800000000000", "120000"]).collect();
            resp::command(into, words);
            Ok(())
        };
        run(self.instance.address()?, SEEDS_YES, Limit::Time(length), source)
    }
}

/// What is called all day in a house of one kind: a node has the scripts that somebody has called, and the more it has,
/// the dearer is every call.
const IN_A_HALL: &[Name] = &[
    Name::of(ListingKind::Event, "create_event"),
    Name::READ_STATE,
    Name::of(ListingKind::Event, "place_plain_hold"),
    Name::of(ListingKind::Event, "place_hold"),
    Name::of(ListingKind::Event, "extend_hold"),
    Name::of(ListingKind::Event, "release_hold"),
    Name::of(ListingKind::Event, "join_queue"),
    Name::of(ListingKind::Event, "place_order"),
    Name::of(ListingKind::Event, "pay_order"),
    Name::of(ListingKind::Event, "note_payment"),
    Name::of(ListingKind::Event, "expire_due"),
];

/// Our scripts, as many as are called in such a house.
async fn caller(url: &str, called: &[Name], layout: Layout) -> Result<ScriptCaller> {
    let config = Config { command_ms: PATIENCE_MS, ..Config::from(url) };
    let link = Link::open(config).await?;
    let scripts = Scripts::of_generation("bench");
    link.load(called.iter().map(|name| scripts.get(*name, layout))).await?;
    let terms = Terms { epoch: 1, compact_from: COMPACT_FROM, strict: true, plain: true };
    Ok(ScriptCaller { link, scripts, prefix: String::new(), terms })
}

async fn yes(caller: &ScriptCaller, picture: &Picture, command: &Command) -> Result<()> {
    match caller.submit(picture, command, (Stamp::None, None), 0, 0).await? {
        Reply::Answer(answer) if answer.outcome.refused().is_none() => Ok(()),
        other @ (Reply::Answer(_) | Reply::Retry { .. } | Reply::Trimmed { .. } | Reply::Damaged) => {
            bail!("not accepted: {other:?}")
        }
    }
}

/// Our own script: fenced, limited, deduplicated, logged.
struct OurHolds {
    instance: Instance,
    subject: &'static str,
    events: u64,
    seats: u64,
}

impl Contestant for OurHolds {
    fn subject(&self) -> String {
        self.subject.to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        self.instance.clear()?;
        let house = House::open(&self.instance, self.events, self.seats)?;
        run(self.instance.address()?, OUR_YES, Limit::Time(length), house.holds())
    }
}

/// Events on Redis with all seats free, and the holds of one seat after the other.
struct House {
    caller: ScriptCaller,
    events: Vec<Picture>,
    seats: u64,
}

impl House {
    fn open(instance: &Instance, events: u64, seats: u64) -> Result<House> {
        let url = format!("redis://{}", instance.address()?);
        block_on_all(async {
            let small = (seats as usize) < COMPACT_FROM;
            let layout = if small { Layout::Hash } else { Layout::Compact };
            let caller = caller(&url, IN_A_HALL, layout).await?;
            let mut pictures = Vec::new();
            // One seat more, held beforehand: the first hold sets the event's marker and is not a plain one.
            let first = u64::from(small);
            for event in 0..events {
                let listing = hall::event(event);
                let create = hall::create(listing, (seats + first) as usize);
                yes(&caller, &Picture::nothing(listing), &create.command).await?;
                let picture = caller.picture(listing).await?;
                if first > 0 {
                    let buyer = BuyerId::parse("first").context("a buyer")?;
                    let hold = hall::hold(listing, u64::MAX, seats as u32, &buyer);
                    yes(&caller, &picture, &hold.command).await?;
                }
                pictures.push(picture);
            }
            Ok(House { caller, events: pictures, seats })
        })
    }

    fn listing(&self, event: usize) -> Result<ListingId> {
        Ok(self.events.get(event).context("an event")?.listing.id)
    }

    /// Each call adds the hold of the next seat, for a buyer of its own, under a key of its own.
    fn holds(self) -> impl Source {
        let mut next = 0u64;
        move |into: &mut Vec<u8>| {
            let (number, at) = (next, (next / self.seats) as usize);
            next += 1;
            let picture = self.events.get(at).context("all seats are held: plan shorter rounds")?;
            let buyer = BuyerId::parse(&number.to_string()).context("a buyer")?;
            let request = hall::hold(picture.listing.id, number, (number % self.seats) as u32, &buyer);
            let stamp = Stamp::Key(request.key.context("a key")?);
            call(into, &self.caller, picture, &request.command, stamp)
        }
    }
}

/// Appends the call of a command's script.
fn call(
    into: &mut Vec<u8>,
    caller: &ScriptCaller,
    picture: &Picture,
    command: &Command,
    stamp: Stamp,
) -> Result<()> {
    let asked = ScriptCall::prepare(picture, command, stamp, None, "", &caller.terms, (0, 0));
    let script = caller.scripts.get(asked.name, asked.layout);
    let count = asked.keys.len().to_string();
    let args: Vec<&str> = asked.args.iter().map(|arg| std::str::from_utf8(arg)).collect::<Result<_, _>>()?;
    let words = ["EVALSHA", script.sha.as_str(), count.as_str()].into_iter();
    let words: Vec<&str> = words.chain(asked.keys.iter().map(String::as_str)).chain(args).collect();
    resp::command(into, words);
    Ok(())
}
