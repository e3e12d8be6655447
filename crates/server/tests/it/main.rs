//! The server as its callers see it: real HTTP over loopback, one file per resource.

mod edge;
mod events;
mod holds;
mod house;
mod memory;
mod seats;
