//! Sets of words that answers choose from. Where the rules have such a set, each word is made from theirs, so that neither
//! can have one that the other does not know.

use onsale_domain::ended::End;
use onsale_domain::{auction, order, registration, seats, series, stock};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Declares a set; behind `of` stands the enum of the rules that has the same words.
macro_rules! words {
    ($(#[$meta:meta])* $Name:ident { $($(#[$of_word:meta])* $Word:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $Name {
            $($(#[$of_word])* $Word,)*
        }

        impl $Name {
            #[cfg(test)]
            const ALL: &[$Name] = &[$($Name::$Word,)*];

            pub fn as_str(self) -> &'static str {
                match self {
                    $($Name::$Word => $text,)*
                }
            }
        }
    };
    ($(#[$meta:meta])* $Name:ident of $Rules:ty { $($(#[$of_word:meta])* $Word:ident = $text:literal,)* }) => {
        words! { $(#[$meta])* $Name { $($(#[$of_word])* $Word = $text,)* } }

        impl From<$Rules> for $Name {
            fn from(word: $Rules) -> $Name {
                type Rules = $Rules;
                match word {
                    $(Rules::$Word => $Name::$Word,)*
                }
            }
        }
    };
}

words! {
    /// What a seat shows to everybody.
    SeatStatus of seats::Status { Available = "available", Held = "held", Sold = "sold", Blocked = "blocked", }
}

words! {
    /// Of a hold that lives.
    HoldStatus { Held = "held", }
}

words! {
    /// A place in a queue is no hold yet.
    PlaceStatus { Waiting = "waiting", }
}

words! {
    /// What became of something that is over.
    EndedStatus {
        Expired = "expired",
        Released = "released",
        /// Staff took it away.
        Overridden = "overridden",
        /// It was bought.
        Confirmed = "confirmed",
        /// The seat that was waited for was sold or blocked, or the event closed.
        Dissolved = "dissolved",
        /// The seat came free when its buyer was at the limit.
        OverLimit = "over_limit",
        /// The store that servers share has forgotten it.
        Lost = "lost",
    }
}

impl From<End> for EndedStatus {
    fn from(end: End) -> EndedStatus {
        match end {
            End::Expired => EndedStatus::Expired,
            End::Released => EndedStatus::Released,
            End::Overridden => EndedStatus::Overridden,
            End::Confirmed => EndedStatus::Confirmed,
            End::Dissolved => EndedStatus::Dissolved,
            End::OverLimit => EndedStatus::OverLimit,
        }
    }
}

words! {
    /// Where a sale stands, by the clock.
    SaleStatus of stock::details::SaleStatus {
        Scheduled = "scheduled", Open = "open", Ended = "ended", Cancelled = "cancelled",
    }
}

words! {
    /// Nothing is left: reservations may still return, or everything is sold.
    SoldOut { ForNow = "for_now", ForGood = "for_good", }
}

impl SoldOut {
    /// As the rules say it: nothing is left, and whether that is for good.
    pub fn of(for_good: Option<bool>) -> Option<SoldOut> {
        for_good.map(|for_good| if for_good { SoldOut::ForGood } else { SoldOut::ForNow })
    }
}

words! {
    /// Where a checkout stands.
    CheckoutStatus {
        Reserved = "reserved",
        /// An order has taken it.
        Ordered = "ordered",
        Purchased = "purchased",
    }
}

words! {
    /// Why a slot has no sale.
    SkipCause of series::fact::SkipCause { Down = "down", Paused = "paused", }
}

words! {
    /// Where a registration stands.
    RegistrationStatus of registration::details::RegistrationStatus {
        Scheduled = "scheduled", Open = "open", Closed = "closed", Started = "started", Cancelled = "cancelled",
    }
}

words! {
    /// Where somebody who registered stands.
    EntryStatus {
        Confirmed = "confirmed",
        /// To be paid before `expires_at`.
        Offered = "offered",
        Waiting = "waiting",
    }
}

words! {
    /// Where an auction stands, by the clock.
    AuctionStatus of auction::AuctionStatus {
        Scheduled = "scheduled", Open = "open", Closed = "closed", Cancelled = "cancelled",
    }
}

words! {
    /// Whether the bids have reached the reserve.
    ReserveStatus of auction::Reserve { None = "none", NotMet = "not_met", Met = "met", }
}

words! {
    /// How an auction ended.
    Closing of auction::fact::Closing {
        Won = "won", BoughtNow = "bought_now", ReserveNotMet = "reserve_not_met", NoBids = "no_bids",
    }
}

words! {
    /// What became of somebody's chance to pay.
    AwardStatus of auction::AwardState {
        Pending = "pending", Settled = "settled", Unpaid = "unpaid", Declined = "declined", Refunded = "refunded",
    }
}

words! {
    /// Why the chance to pay passed on.
    PassCause of auction::fact::PassCause { Unpaid = "unpaid", Declined = "declined", }
}

words! {
    /// What a bid came to.
    BidStanding of auction::BidStanding {
        Leading = "leading",
        Outbid = "outbid",
        /// The auction is over, and the bidder has it to pay.
        Bought = "bought",
    }
}

words! {
    /// Why a hold was released.
    ReleaseCause of seats::fact::ReleaseCause { Buyer = "buyer", EventCancelled = "event_cancelled", }
}

words! {
    /// Why a checkout was cancelled.
    CheckoutCancelCause of stock::fact::CancelCause { Buyer = "buyer", SaleCancelled = "sale_cancelled", }
}

words! {
    /// Who gave a place of a registration back.
    EntryCancelCause of registration::fact::EntryCancelCause {
        Buyer = "buyer", Staff = "staff", RegistrationCancelled = "registration_cancelled",
    }
}

words! {
    /// Where an order stands.
    OrderStatus {
        Pending = "pending",
        Paying = "paying",
        Confirmed = "confirmed",
        /// Confirmed, and what it is for has ended.
        Completed = "completed",
        Expired = "expired",
        Cancelled = "cancelled",
        /// Nothing is left of it.
        Refunded = "refunded",
    }
}

impl From<order::OrderStatus> for OrderStatus {
    fn from(status: order::OrderStatus) -> OrderStatus {
        match status {
            order::OrderStatus::Pending => OrderStatus::Pending,
            order::OrderStatus::Paying => OrderStatus::Paying,
            order::OrderStatus::Confirmed => OrderStatus::Confirmed,
            order::OrderStatus::Expired => OrderStatus::Expired,
            order::OrderStatus::Cancelled => OrderStatus::Cancelled,
            order::OrderStatus::Refunded => OrderStatus::Refunded,
        }
    }
}

words! {
    /// What an order knows of an attempt to pay it.
    AttemptStatus { Asked = "asked", Captured = "captured", Declined = "declined", }
}

words! {
    /// Where a payment stands with its provider.
    PaymentStatus {
        Asked = "asked",
        Waiting = "waiting",
        /// The buyer has something to do at `action_url`.
        NeedsAction = "needs_action",
        Captured = "captured",
        Declined = "declined",
    }
}

words! {
    /// Where a refund stands with its provider.
    RefundStatus { Asked = "asked", Waiting = "waiting", Paid = "paid", }
}

words! {
    /// Why money goes back.
    RefundCause of order::fact::RefundCause {
        /// The goods came back, or their listing was cancelled.
        Returned = "returned",
        /// The money came when the goods were gone, or the order was cancelled.
        Late = "late",
        /// Another payment had paid the order.
        Twice = "twice",
        /// It was not the amount that was asked for.
        Amount = "amount",
    }
}

words! {
    /// The server answers.
    HealthStatus { Ok = "ok", }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of the outside are those of the rules, letter by letter.
    #[test]
    fn what_is_answered_is_what_the_rules_say() {
        for status in seats::Status::ALL {
            assert_eq!(SeatStatus::from(status).as_str(), status.as_str());
        }
        use order::OrderStatus as Order;
        for status in [
            Order::Pending,
            Order::Paying,
            Order::Confirmed,
            Order::Expired,
            Order::Cancelled,
            Order::Refunded,
        ] {
            assert_eq!(OrderStatus::from(status).as_str(), status.as_str());
        }
        use order::fact::RefundCause as Why;
        for why in [Why::Returned, Why::Late, Why::Twice, Why::Amount] {
            assert_eq!(RefundCause::from(why).as_str(), why.as_str());
        }
        use stock::details::SaleStatus as Sale;
        for status in [Sale::Scheduled, Sale::Open, Sale::Ended, Sale::Cancelled] {
            assert_eq!(SaleStatus::from(status).as_str(), status.as_str());
        }
        use registration::details::RegistrationStatus as Registration;
        for status in
            [Registration::Scheduled, Registration::Open, Registration::Closed, Registration::Started]
        {
            assert_eq!(RegistrationStatus::from(status).as_str(), status.as_str());
        }
        use auction::AuctionStatus as Auction;
        for status in [Auction::Scheduled, Auction::Open, Auction::Closed, Auction::Cancelled] {
            assert_eq!(AuctionStatus::from(status).as_str(), status.as_str());
        }
    }

    #[test]
    fn a_word_is_written_as_it_is_named() {
        fn check<W: Serialize + Copy + std::fmt::Debug>(all: &[W], name: fn(W) -> &'static str) {
            for word in all {
                assert_eq!(serde_json::to_value(word).ok(), Some(name(*word).into()), "{word:?}");
            }
        }
        check(SoldOut::ALL, SoldOut::as_str);
        check(CheckoutStatus::ALL, CheckoutStatus::as_str);
        check(HoldStatus::ALL, HoldStatus::as_str);
        check(PlaceStatus::ALL, PlaceStatus::as_str);
        check(EndedStatus::ALL, EndedStatus::as_str);
        check(EntryStatus::ALL, EntryStatus::as_str);
        check(ReserveStatus::ALL, ReserveStatus::as_str);
        check(Closing::ALL, Closing::as_str);
        check(AwardStatus::ALL, AwardStatus::as_str);
        check(BidStanding::ALL, BidStanding::as_str);
        check(ReleaseCause::ALL, ReleaseCause::as_str);
        check(CheckoutCancelCause::ALL, CheckoutCancelCause::as_str);
        check(EntryCancelCause::ALL, EntryCancelCause::as_str);
        check(OrderStatus::ALL, OrderStatus::as_str);
        check(AttemptStatus::ALL, AttemptStatus::as_str);
        check(PaymentStatus::ALL, PaymentStatus::as_str);
        check(RefundStatus::ALL, RefundStatus::as_str);
        check(RefundCause::ALL, RefundCause::as_str);
        check(HealthStatus::ALL, HealthStatus::as_str);
        check(SeatStatus::ALL, SeatStatus::as_str);
        check(SaleStatus::ALL, SaleStatus::as_str);
        check(SkipCause::ALL, SkipCause::as_str);
        check(PassCause::ALL, PassCause::as_str);
        check(RegistrationStatus::ALL, RegistrationStatus::as_str);
        check(AuctionStatus::ALL, AuctionStatus::as_str);
    }
}
