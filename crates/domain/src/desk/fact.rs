//! What happened at a desk. Numbers of variants and fields are the journal's format: they are only ever added.

use minicbor::{Decode, Encode};

use crate::id::{ListingId, OrderId, PaymentId, PaymentName};
use crate::money::{Currency, Minor};
use crate::time::Millis;
use crate::verb::fact_names;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum DeskFact {
    #[n(0)]
    Opened,
    #[n(1)]
    WorkTaken {
        #[n(0)]
        listing: ListingId,
        #[n(1)]
        through: u64,
        #[n(2)]
        slips: Vec<Slip>,
    },
    #[n(2)]
    Answered {
        #[n(0)]
        payment: PaymentName,
        #[n(1)]
        refund: u16,
        #[n(2)]
        reference: Option<String>,
        #[n(3)]
        standing: PaymentStanding,
    },
    /// Stored before it is answered, and whatever it says.
    #[n(3)]
    WebhookReceived(#[n(0)] Box<Webhook>),
    #[n(4)]
    Delivered {
        #[n(0)]
        payment: PaymentName,
        #[n(1)]
        refund: u16,
    },
}

/// One thing to see to: a payment to ask for, or a refund to pay.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Slip {
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub payment: PaymentId,
    /// 0: the payment itself; else its n-th refund.
    #[n(2)]
    pub refund: u16,
    #[n(3)]
    pub amount_minor: Minor,
    #[n(4)]
    pub currency: Currency,
    /// When the goods are let go; a refund is always in time.
    #[n(5)]
    pub until: Option<Millis>,
    /// The provider's own name of the payment that a refund pays back.
    #[n(6)]
    pub of_reference: Option<String>,
    /// What the provider shall take the money from, in its own words.
    #[n(7)]
    pub method: Option<String>,
}

impl Slip {
    /// Which payment it is about, brought by this listing.
    pub fn of(&self, listing: ListingId) -> PaymentName {
        PaymentName { listing, payment: self.payment }
    }
}

/// How a payment or a refund stands, as far as anybody knows. Only ever later ones count: the order is theirs.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum PaymentStanding {
    /// The provider may have heard of it, or not.
    #[n(0)]
    Asked,
    #[n(1)]
    Waiting,
    /// The buyer must do something there.
    #[n(2)]
    NeedsAction {
        #[n(0)]
        url: String,
    },
    /// Declined; a refund that failed is tried again.
    #[n(3)]
    Failed {
        #[n(0)]
        reason: String,
    },
    /// The money moved. Nothing comes after this.
    #[n(4)]
    Done {
        #[n(0)]
        amount_minor: Minor,
    },
}

impl PaymentStanding {
    /// A later standing wins, whenever it arrives.
    pub fn rank(&self) -> u8 {
        match self {
            PaymentStanding::Asked => 0,
            PaymentStanding::Waiting => 1,
            PaymentStanding::NeedsAction { .. } => 2,
            PaymentStanding::Failed { .. } => 3,
            PaymentStanding::Done { .. } => 4,
        }
    }

    pub fn as_str(&self) -> &'static str {
        match self {
            PaymentStanding::Asked => "asked",
            PaymentStanding::Waiting => "waiting",
            PaymentStanding::NeedsAction { .. } => "needs_action",
            PaymentStanding::Failed { .. } => "failed",
            PaymentStanding::Done { .. } => "done",
        }
    }
}

/// An event of a provider, read and verified at the edge.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Webhook {
    #[n(0)]
    pub provider: String,
    /// The provider's id of this event: the same one twice is one event.
    #[n(1)]
    pub event: String,
    /// The provider's own word for what happened.
    #[n(2)]
    pub kind: String,
    /// What it is about, if it is one of ours.
    #[n(3)]
    pub payment: Option<PaymentName>,
    #[n(4)]
    pub refund: u16,
    #[n(5)]
    pub reference: Option<String>,
    #[n(6)]
    pub standing: Option<PaymentStanding>,
    /// Which try of a refund it tells of, by the failures before that one; some do not say.
    #[n(7)]
    pub failures: Option<u16>,
}

fact_names! {
    DeskFact {
        Opened = "desk_opened",
        WorkTaken = "work_taken",
        Answered = "work_answered",
        WebhookReceived = "webhook_received",
        Delivered = "work_delivered",
    }
}
