//! A listing as bytes, for snapshots, and back.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use super::{Body, Listing};
use crate::auction::Auction;
use crate::auction::image::AuctionImage;
use crate::desk::image::DeskImage;
use crate::desk::{Desk, DeskCommand};
use crate::id::ListingId;
use crate::order::Orders;
use crate::order::image::OrdersImage;
use crate::registration::Registration;
use crate::registration::image::RegistrationImage;
use crate::seats::Seats;
use crate::seats::image::SeatsImage;
use crate::series::Series;
use crate::series::image::SeriesImage;
use crate::stock::Sale;
use crate::stock::image::SaleImage;
use crate::time::Millis;
use crate::venue::Venue;

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
    #[n(4)]
    body: BodyImage,
    #[n(5)]
    orders: Option<OrdersImage>,
}

#[derive(Encode, Decode)]
enum BodyImage {
    #[n(0)]
    Nothing,
    #[n(1)]
    Venue(#[n(0)] Box<Venue>),
    #[n(2)]
    Event(#[n(0)] Box<SeatsImage>),
    #[n(3)]
    Sale(#[n(0)] Box<SaleImage>),
    #[n(4)]
    Series(#[n(0)] Box<SeriesImage>),
    #[n(5)]
    Registration(#[n(0)] Box<RegistrationImage>),
    #[n(6)]
    Auction(#[n(0)] Box<AuctionImage>),
    #[n(7)]
    Desk(#[n(0)] Box<DeskImage>),
}

/// The state of a listing's kind; see [`Listing::of_parts`].
#[derive(Clone, Debug)]
pub enum Parts {
    Venue(Venue),
    Event(Box<SeatsImage>),
    Sale(Box<SaleImage>),
    Series(Box<SeriesImage>),
    Registration(Box<RegistrationImage>),
    Auction(Box<AuctionImage>),
    Desk(Box<DeskImage>),
}

impl Listing {
    /// The state as bytes, for a snapshot.
    pub fn image(&self) -> Vec<u8> {
        self.image_with(false)
    }

    /// The same bytes for the same state, however it came about: a restart shuffles what has no order.
    pub fn canonical_image(&self) -> Vec<u8> {
        self.image_with(true)
    }

    fn image_with(&self, sorted: bool) -> Vec<u8> {
        fn arranged<T>(mut image: T, sort: Option<fn(&mut T)>) -> Box<T> {
            if let Some(sort) = sort {
                sort(&mut image);
            }
            Box::new(image)
        }
        let body = match &self.body {
            Body::Nothing => BodyImage::Nothing,
            Body::Venue(venue) => BodyImage::Venue(Box::new((**venue).clone())),
            Body::Event(seats) => {
                BodyImage::Event(arranged(seats.image(), sorted.then_some(SeatsImage::sort)))
            }
            Body::Sale(sale) => BodyImage::Sale(arranged(sale.image(), sorted.then_some(SaleImage::sort))),
            Body::Series(series) => BodyImage::Series(Box::new(series.image())),
            Body::Registration(registration) => {
                let sort = sorted.then_some(RegistrationImage::sort as fn(&mut RegistrationImage));
                BodyImage::Registration(arranged(registration.image(), sort))
            }
            // Canonical by itself.
            Body::Auction(auction) => BodyImage::Auction(Box::new(auction.image())),
            Body::Desk(desk) => BodyImage::Desk(arranged(desk.image(), sorted.then_some(DeskImage::sort))),
        };
        let (id, epoch, offset, last_at) = (self.id, self.epoch, self.offset, self.last_at);
        let orders = self.orders.as_deref().filter(|orders| !orders.is_empty()).map(Orders::image);
        match minicbor::to_vec(Image { id, epoch, offset, last_at, body, orders }) {
            Ok(bytes) => bytes,
            Err(error) => panic!("writing into memory cannot fail: {error}"),
        }
    }

    pub fn from_image(bytes: &[u8]) -> Result<Listing, minicbor::decode::Error> {
        let Image { id, epoch, offset, last_at, body, orders } = minicbor::decode(bytes)?;
        let body = match body {
            BodyImage::Nothing => Body::Nothing,
            BodyImage::Venue(venue) => Body::Venue(Arc::from(venue)),
            BodyImage::Event(image) => Body::Event(Box::new(Seats::from_image(*image))),
            BodyImage::Sale(image) => Body::Sale(Box::new(Sale::from_image(*image))),
            BodyImage::Series(image) => Body::Series(Arc::new(Series::from_image(id, *image))),
            BodyImage::Registration(image) => Body::Registration(Box::new(Registration::from_image(*image))),
            BodyImage::Auction(image) => Body::Auction(Box::new(Auction::from_image(*image))),
            BodyImage::Desk(image) => Body::Desk(Box::new(Desk::from_image(*image))),
        };
        let orders = orders.map(|image| Box::new(Orders::from_image(image)));
        Ok(Listing { id, epoch, offset, last_at, body, orders, attempts: None })
    }

    /// A listing put together from its parts, for engines that keep them elsewhere.
    pub fn of_parts(id: ListingId, epoch: u64, offset: u64, last_at: Millis, parts: Parts) -> Listing {
        let body = match parts {
            Parts::Venue(venue) => Body::Venue(Arc::new(venue)),
            Parts::Event(image) => Body::Event(Box::new(Seats::from_image(*image))),
            Parts::Sale(image) => Body::Sale(Box::new(Sale::from_image(*image))),
            Parts::Series(image) => Body::Series(Arc::new(Series::from_image(id, *image))),
            Parts::Registration(image) => Body::Registration(Box::new(Registration::from_image(*image))),
            Parts::Auction(image) => Body::Auction(Box::new(Auction::from_image(*image))),
            Parts::Desk(image) => Body::Desk(Box::new(Desk::from_image(*image))),
        };
        Listing { id, epoch, offset, last_at, body, orders: None, attempts: None }
    }

    /// A desk with no more than a command can look at or change: small enough to be compared before and after it.
    #[must_use]
    pub fn desk_part(&self, command: &DeskCommand, clock: Millis) -> Listing {
        let now = clock.max(self.last_at);
        let part = self.desk().map(|desk| Body::Desk(Box::new(desk.part(command, now))));
        let (id, epoch, offset, last_at) = (self.id, self.epoch, self.offset, self.last_at);
        let body = part.unwrap_or(Body::Nothing);
        Listing { id, epoch, offset, last_at, body, orders: None, attempts: None }
    }

    pub fn desk_image(&self) -> Option<DeskImage> {
        self.desk().map(Desk::image)
    }

    fn desk(&self) -> Option<&Desk> {
        match &self.body {
            Body::Desk(desk) => Some(desk),
            Body::Nothing
            | Body::Venue(_)
            | Body::Event(_)
            | Body::Sale(_)
            | Body::Series(_)
            | Body::Registration(_)
            | Body::Auction(_) => None,
        }
    }

    /// The same with the orders that pay for what is here.
    #[must_use]
    pub fn with_orders(self, orders: Option<OrdersImage>) -> Listing {
        Listing { orders: orders.map(|image| Box::new(Orders::from_image(image))), ..self }
    }
}
