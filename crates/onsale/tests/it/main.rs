//! The server as its callers see it: real HTTP over loopback, one file per resource.

mod auctions;
mod browser;
mod config;
mod docs;
mod doctor;
mod durable;
mod edge;
mod events;
mod facts;
mod holds;
mod house;
mod memory;
mod mixed;
mod orders;
mod orders_kept;
mod queue;
mod registrations;
mod sales;
mod same_key;
mod seats;
mod series;
mod staff;
mod stripe;
mod tls;
mod verify;
mod ways;
