//! A listing as bytes, for snapshots, and back.

use minicbor::{Decode, Encode};

use super::{Body, Listing};
use crate::about::About;
use crate::desk::DeskCommand;
use crate::desk::image::DeskImage;
use crate::id::ListingId;
use crate::kind::Kind;
use crate::kinds::each_kind;
use crate::order::Orders;
use crate::order::image::OrdersImage;
use crate::time::Millis;

#[derive(Encode, Decode)]
struct Image {
    #[n(0)]
    id: ListingId,
    #[n(1)]
    epoch: u64,
    #[n(2)]
    offset: u64,
    #[n(3)]
    last_at: Millis,
    /// Absent before the first fact.
    #[n(4)]
    parts: Option<Parts>,
    #[n(5)]
    orders: Option<OrdersImage>,
    #[n(6)]
    created_at: Millis,
    #[n(7)]
    about: Option<About>,
}

macro_rules! parts {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        /// The state of a listing's kind; see [`Listing::of_parts`].
        #[derive(Clone, Debug, Encode, Decode)]
        pub enum Parts {
            $(#[n($number)] $Kind(#[n(0)] Box<<$State as Kind>::Image>),)*
        }

        impl Body {
            fn parts(&self, order: Order) -> Option<Parts> {
                match self {
                    Body::Nothing => None,
                    $(Body::$Kind(state) => {
                        let mut image = Box::new(Kind::image(&**state));
                        if order == Order::Canonical {
                            <$State as Kind>::sort(&mut image);
                        }
                        Some(Parts::$Kind(image))
                    })*
                }
            }

            fn of_parts(id: ListingId, parts: Parts) -> Body {
                match parts {
                    $(Parts::$Kind(image) => Body::$Kind(Box::new(<$State as Kind>::from_image(id, *image))),)*
                }
            }
        }
    };
}

each_kind!(parts);

/// In which order an image has what has none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    AsItLies,
    Canonical,
}

impl Listing {
    /// The state as bytes, for a snapshot.
    pub fn image(&self) -> Vec<u8> {
        self.image_with(Order::AsItLies)
    }

    /// The same bytes for the same state, however it came about: a restart shuffles what has no order.
    pub fn canonical_image(&self) -> Vec<u8> {
        self.image_with(Order::Canonical)
    }

    fn image_with(&self, order: Order) -> Vec<u8> {
        let image = Image {
            id: self.id,
            epoch: self.epoch,
            offset: self.offset,
            last_at: self.last_at,
            parts: self.body.parts(order),
            orders: self.orders.as_deref().filter(|orders| !orders.is_empty()).map(Orders::image),
            created_at: self.created_at,
            about: self.about().cloned(),
        };
        match minicbor::to_vec(image) {
            Ok(bytes) => bytes,
            Err(error) => panic!("writing into memory cannot fail: {error}"),
        }
    }

    pub fn from_image(bytes: &[u8]) -> Result<Listing, minicbor::decode::Error> {
        let Image { id, epoch, offset, last_at, parts, orders, created_at, about } = minicbor::decode(bytes)?;
        let body = parts.map_or(Body::Nothing, |parts| Body::of_parts(id, parts));
        let orders = orders.map(|image| Box::new(Orders::from_image(image)));
        let listing = Listing { offset, last_at, created_at, body, orders, ..Listing::new(id, epoch) };
        Ok(listing.with_about(about))
    }

    /// A listing put together from its parts, for engines that keep them elsewhere.
    pub fn of_parts(id: ListingId, epoch: u64, offset: u64, last_at: Millis, parts: Parts) -> Listing {
        let body = Body::of_parts(id, parts);
        Listing { offset, last_at, body, ..Listing::new(id, epoch) }
    }

    /// A desk with no more than a command can look at or change: small enough to be compared before and after it.
    #[must_use]
    pub fn desk_part(&self, command: &DeskCommand, clock: Millis) -> Listing {
        let now = clock.max(self.last_at);
        let part = self.desk().map(|desk| Body::Desk(Box::new(desk.part(command, now))));
        let (id, epoch, offset, last_at) = (self.id, self.epoch, self.offset, self.last_at);
        let body = part.unwrap_or(Body::Nothing);
        Listing { offset, last_at, created_at: self.created_at, body, ..Listing::new(id, epoch) }
    }

    pub fn desk_image(&self) -> Option<DeskImage> {
        self.desk().map(Kind::image)
    }

    /// The same with the orders that pay for what is here.
    #[must_use]
    pub fn with_orders(self, orders: Option<OrdersImage>) -> Listing {
        Listing { orders: orders.map(|image| Box::new(Orders::from_image(image))), ..self }
    }
}
