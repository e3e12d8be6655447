//! The largest auction there is: its last bid, the one too many, and a replay over all of them.

use onsale_domain::auction::AuctionCommand;
use onsale_domain::auction::command::{BanBidder, PlaceBid, RetractBid, Retractor};
use onsale_domain::auction::details::SoftClose;
use onsale_domain::auction::increment::{Increment, NamedLadder};
use onsale_domain::auction::limits::{BANNED_MAX, BIDS_MAX, WATCHERS_MAX};
use onsale_domain::auction::{AuctionDetails, AuctionTerms};
use onsale_domain::{BuyerId, Command, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_engine::Answer;
use onsale_engine_redis::Keys;
use onsale_engine_redis::caller::{ScriptCaller, Stamp};
use onsale_engine_redis::commands::Terms;
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;

use super::terms::currency;
use crate::differential::reference::Reference;
use crate::lua;
use crate::server::Server;

const START: Millis = 1_700_000_000_000;
const PREFIX: &str = "limits:";

fn listing() -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Auction, number: 1 }
}

fn buyer(n: usize) -> BuyerId {
    BuyerId::parse(&format!("buyer-{n}")).expect("a name")
}

/// Lua and the domain, side by side.
struct Both {
    caller: ScriptCaller,
    picture: Picture,
    domain: Reference,
    operations: u128,
}

impl Both {
    async fn ask(&mut self, command: AuctionCommand, now: Millis) -> Answer {
        self.operations += 1;
        let (command, stamp) = (Command::Auction(command), Stamp::Operation(self.operations));
        let expected = self.domain.submit(&command, None, now);
        let reply =
            self.caller.submit(&self.picture, &command, (stamp, None), now, now).await.expect("an answer");
        let Reply::Answer(got) = reply else { panic!("{reply:?}") };
        assert_eq!((&expected.outcome, expected.step()), (&got.outcome, got.step()), "{command:?}");
        if let Some(step) = got.step() {
            assert!(self.picture.apply(step), "the next step");
        }
        *got
    }

    async fn look(&self) {
        let read = self.caller.picture(listing()).await.expect("a state");
        assert_eq!(read.listing.canonical_image(), self.domain.listing.canonical_image());
    }
}

fn create() -> AuctionCommand {
    AuctionCommand::CreateAuction(Box::new(AuctionDetails {
        name: "Everybody's".into(),
        description: String::new(),
        seller: BuyerId::parse("sam").expect("a name"),
        currency: currency("EUR"),
        starts_at: START,
        ends_at: START + 86_400_000,
        terms: AuctionTerms {
            start_minor: 100,
            tick_minor: 1,
            increment: Increment::Named(NamedLadder::EbayUs),
            reserve_minor: Some(50_000),
            buy_now: None,
            soft_close: Some(SoftClose::default()),
            bidders_may_retract: false,
        },
    }))
}

async fn play() {
    let server = Server::start();
    let link = server.link().await;
    let scripts = lua::scripts("limits");
    link.load(scripts.iter()).await.expect("scripts that compile");
    let terms = Terms { epoch: 1, compact_from: usize::MAX, strict: true, plain: true };
    let caller = ScriptCaller { link: link.clone(), scripts, prefix: PREFIX.into(), terms };
    let (picture, domain) = (Picture::nothing(listing()), Reference::new(listing()));
    let mut both = Both { caller, picture, domain, operations: 0 };
    assert_eq!(both.ask(create(), START).await.outcome, Outcome::Done);
    for n in 0..=BIDS_MAX {
        let least = both.picture.listing.auction().map_or(0, |auction| auction.view().min_next_minor);
        let (bidder, max_minor) = (buyer(n % 300), least + (n % 7) as i64);
        let bid = PlaceBid { bidder, max_minor, currency: currency("EUR") };
        let answer = both.ask(AuctionCommand::PlaceBid(bid), START + n as Millis).await;
        assert_eq!(answer.outcome.refused().is_some(), n == BIDS_MAX, "bid {n}: {:?}", answer.outcome);
    }
    both.look().await;
    let now = START + 20_000;
    for bid in [BIDS_MAX as u16, 1, 5_000] {
        let retract = RetractBid { bid: bid.into(), by: Retractor::Staff, reason: "a slip".into() };
        assert_eq!(both.ask(AuctionCommand::RetractBid(retract), now).await.outcome, Outcome::Done);
    }
    let ban = |n| AuctionCommand::BanBidder(BanBidder { bidder: buyer(n), reason: "r".into() });
    assert_eq!(both.ask(ban(7), now).await.outcome, Outcome::Done);
    both.look().await;

    // As many watchers and bans as there may be, put there by hand.
    let keys = Keys::new(PREFIX, &listing());
    let mut watchers = redis::cmd("HSET");
    watchers.arg(&keys.all()[3]);
    for n in 0..WATCHERS_MAX {
        watchers.arg(n).arg(1);
    }
    link.at(keys.head(), &watchers).await.expect("written");
    let banned = redis::cmd("HSET").arg(keys.head()).arg("banned").arg(BANNED_MAX).to_owned();
    link.at(keys.head(), &banned).await.expect("written");
    for (command, code) in [(AuctionCommand::WatchAuction(buyer(1)), "watchers_full"), (ban(8), "bans_full")]
    {
        both.operations += 1;
        let (command, stamp) = (Command::Auction(command), Stamp::Operation(both.operations));
        let reply =
            both.caller.submit(&both.picture, &command, (stamp, None), now, now).await.expect("an answer");
        let Reply::Answer(got) = reply else { panic!("{reply:?}") };
        assert_eq!(got.outcome.refused().map(|refusal| refusal.code.as_str()), Some(code));
    }
}

#[test]
fn ten_thousand_bids_are_taken_and_replayed_as_the_domain_does() {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(play());
}
