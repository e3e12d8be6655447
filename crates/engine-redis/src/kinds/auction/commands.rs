//! Commands of auctions as arguments. What a script cannot see, merged details, is checked here, and the script looks
//! whether what it was checked against is still so.

use onsale_domain::Fact;
use onsale_domain::Kind;
use onsale_domain::auction::command::{ChangeAuction, PlaceBid, Retractor};
use onsale_domain::auction::details::{BuyNowPolicy, SoftCloseMode};
use onsale_domain::auction::increment::{Increment, LadderStep};
use onsale_domain::auction::{Auction, AuctionCommand, AuctionDetails, AuctionFact, check};

use super::facts as own;
use crate::commands::{Args, ScriptArgs, Terms, refused};
use crate::facts::{self, Fields};
use crate::picture::Picture;

pub(super) fn prepare(picture: &Picture, command: &AuctionCommand, terms: &Terms) -> ScriptArgs {
    if let AuctionCommand::CreateAuction(details) = command {
        return create(picture, details, terms);
    }
    if let Err(refusal) = check(command) {
        return refused(refusal, "");
    }
    let mut args = Args::default();
    match command {
        // Made above, under its own script.
        AuctionCommand::CreateAuction(_) => {}
        AuctionCommand::ChangeAuction(command) => {
            change(&mut args, picture, command);
        }
        AuctionCommand::CancelAuction(command) => {
            args.bytes(&command.reason);
        }
        AuctionCommand::PlaceBid(command) => {
            args.bytes(command.bidder.as_str());
            args.push(command.max_minor);
            args.bytes(command.currency.as_str());
        }
        AuctionCommand::BuyNow(command) => {
            args.bytes(command.buyer.as_str());
            args.bytes(command.currency.as_str());
        }
        AuctionCommand::RetractBid(command) => {
            args.push(command.bid);
            args.bytes(match &command.by {
                Retractor::Staff => "",
                Retractor::Bidder(bidder) => bidder.as_str(),
            });
            args.bytes(&command.reason);
        }
        AuctionCommand::BanBidder(command) => {
            args.bytes(command.bidder.as_str());
            args.bytes(&command.reason);
        }
        AuctionCommand::UnbanBidder(bidder) => {
            args.bytes(bidder.as_str());
        }
        AuctionCommand::SettleAward(command) => {
            args.bytes(command.bidder.as_str());
            args.bytes(facts::id(command.order.0));
        }
        AuctionCommand::RefundAward(command) => {
            args.bytes(facts::id(command.order.0));
            args.optional(command.amount_minor);
            args.bytes(&command.reason);
        }
        AuctionCommand::DeclineAward(bidder) => {
            args.bytes(bidder.as_str());
        }
        AuctionCommand::WatchAuction(watcher) => {
            args.bytes(watcher.as_str());
        }
        AuctionCommand::UnwatchAuction(watcher) => {
            args.bytes(watcher.as_str());
        }
    }
    args.script(command.verb().name, picture)
}

/// A bid that nothing in the details speaks against, as far as the picture tells; what it comes to is the script's to
/// tell.
pub(super) fn plain_bid(picture: &Picture, command: &PlaceBid) -> Option<(ScriptArgs, AuctionFact)> {
    let auction = picture.listing.auction()?;
    let (details, max) = (auction.details(), command.max_minor);
    let terms = &details.terms;
    let known = command.bidder != details.seller
        && command.currency == details.currency
        && max % terms.tick_minor == 0
        && check(&AuctionCommand::PlaceBid(command.clone())).is_ok();
    if !known {
        return None;
    }
    let mut args = Args::default();
    args.bytes(command.bidder.as_str());
    args.push(max);
    args.push(picture.versions.details);
    args.push(details.starts_at);
    args.push(terms.start_minor);
    args.optional(terms.reserve_minor);
    args.optional(terms.buy_now.map(|buy_now| buy_now.price_minor));
    args.bytes(terms.buy_now.map_or("", |buy_now| policy(buy_now.policy)));
    args.optional(terms.soft_close.as_ref().map(|rule| rule.window_ms));
    args.bytes(terms.soft_close.as_ref().map_or(String::new(), |rule| {
        let latest = details.ends_at + rule.cap_ms;
        format!("{}|{latest}|{}", mode(rule.mode), own::extensions(rule))
    }));
    for rung in rungs(&terms.increment).iter() {
        args.push(rung.from_minor);
        args.push(rung.step_minor);
    }
    let fact = AuctionFact::BidPlaced {
        bid: 0,
        bidder: command.bidder.clone(),
        max_minor: max,
        leading: false,
        price_minor: 0,
        min_next_minor: 0,
        reserve_met: false,
        ends_at: 0,
    };
    Some((args.script("plain_bid", picture), fact))
}

fn create(picture: &Picture, details: &AuctionDetails, terms: &Terms) -> ScriptArgs {
    // At the beginning of time: whether its end is still to come is for the script to say.
    if let Err(refusal) = Auction::create(&AuctionCommand::CreateAuction(Box::new(details.clone())), -1) {
        return refused(refusal, "create");
    }
    let mut args = Args::default();
    args.push(terms.epoch);
    args.push(details.ends_at);
    args.bytes(rules(details));
    args.fields(&meta_fields(details));
    args.fact(&Fact::Auction(AuctionFact::AuctionCreated(Box::new(details.clone()))));
    args.script("create_auction", picture)
}

fn change(args: &mut Args, picture: &Picture, command: &ChangeAuction) {
    args.push(picture.versions.details);
    let Some(auction) = picture.listing.auction() else { return };
    let (old, details) = (auction.details(), auction.changed(command));
    args.bytes(if details.has_terms_of(old) { "1" } else { "0" });
    if let Err(refusal) = details.check() {
        args.bytes("field");
        args.wrong(Some(&refusal));
    } else if details == **old {
        args.bytes("same");
    } else {
        args.bytes("change");
        args.bytes(rules(&details));
        args.push(details.ends_at);
        args.fields(&meta_fields(&details));
        args.fact(&Fact::Auction(AuctionFact::AuctionChanged(Box::new(details))));
    }
}

fn meta_fields(details: &AuctionDetails) -> Fields {
    let mut fields = Fields::default();
    own::encode_details(details, &mut fields);
    fields
}

/// What scripts have to know of the details, in one line; `lua/auction/lib/rules.lua` takes it apart.
pub(super) fn rules(details: &AuctionDetails) -> String {
    let optional = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
    let terms = &details.terms;
    let soft = terms.soft_close.as_ref();
    let parts = [
        details.starts_at.to_string(),
        details.ends_at.to_string(),
        details.currency.as_str().to_owned(),
        terms.start_minor.to_string(),
        terms.tick_minor.to_string(),
        optional(terms.reserve_minor),
        optional(terms.buy_now.map(|buy_now| buy_now.price_minor)),
        terms.buy_now.map_or("", |buy_now| policy(buy_now.policy)).to_owned(),
        soft.map_or("", |rule| mode(rule.mode)).to_owned(),
        optional(soft.map(|rule| rule.window_ms)),
        optional(soft.map(|rule| rule.cap_ms)),
        soft.map_or(String::new(), own::extensions),
        u8::from(terms.bidders_may_retract).to_string(),
        own::ladder(&rungs(&terms.increment)),
        details.seller.as_str().to_owned(),
    ];
    parts.join("|")
}

/// Scripts know ladders only; one amount is a ladder of one rung.
fn rungs(increment: &Increment) -> Vec<LadderStep> {
    match increment {
        Increment::Fixed(step) => vec![LadderStep { from_minor: 0, step_minor: *step }],
        Increment::Ladder(rungs) => rungs.clone(),
        Increment::Named(named) => named.rungs().to_vec(),
    }
}

fn policy(policy: BuyNowPolicy) -> &'static str {
    match policy {
        BuyNowPolicy::UntilFirstBid => "f",
        BuyNowPolicy::UntilReserveMet => "r",
        BuyNowPolicy::Always => "a",
    }
}

fn mode(mode: SoftCloseMode) -> &'static str {
    match mode {
        SoftCloseMode::Reset => "r",
        SoftCloseMode::Add => "a",
    }
}
