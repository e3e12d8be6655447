//! One buyer's way through a sale: hold, then extend, release, confirm or walk away; sometimes wait in line.

use std::sync::Arc;

use hyper::Method;
use rand::RngExt;
use serde_json::{Value, json};

use super::hall::{Hall, Wish, list, text};
use crate::cli::client::Reply;
use crate::cli::instant;

/// Of a hundred steps with a hold in hand; the rest confirm.
const EXTEND: u32 = 15;
const RELEASE: u32 = 20;
const ABANDON: u32 = 5;
/// Of a hundred who found a seat held, so many wait for it.
const QUEUE: u32 = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verb {
    Hold,
    Extend,
    Release,
    Confirm,
    Queue,
}

impl Verb {
    pub(super) const ALL: [Verb; 5] = [Verb::Hold, Verb::Extend, Verb::Release, Verb::Confirm, Verb::Queue];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Verb::Hold => "hold",
            Verb::Extend => "extend",
            Verb::Release => "release",
            Verb::Confirm => "confirm",
            Verb::Queue => "queue",
        }
    }
}

#[derive(Debug)]
pub(super) struct Buyer {
    /// Which buyer of the run this is; a buyer at the limit goes home and a new one takes the turn.
    number: usize,
    turn: u64,
    run: u32,
    name: String,
    steps: u64,
    holding: Option<Holding>,
    /// A seat that somebody else held when asked for.
    missed: Option<String>,
}

#[derive(Clone, Debug)]
struct Holding {
    id: String,
    token: String,
    seats: Vec<String>,
    extended: bool,
}

/// A request about to be sent.
#[derive(Debug)]
pub(super) struct Ask {
    pub verb: Verb,
    pub method: Method,
    pub path: String,
    pub body: Option<String>,
    pub token: Option<String>,
    pub idempotency_key: String,
}

/// An answer that promises something, to be found in the facts afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    Held { hold: String, fence: u64, buyer: String, seats: Vec<String> },
    Extended { hold: String, until: i64 },
    Released { hold: String },
    Confirmed { hold: String, order: String },
    Queued { place: String, seat: String },
}

impl Buyer {
    pub(super) fn new(run: u32, number: usize) -> Buyer {
        let name = format!("load-{run:08x}-{number}-0");
        Buyer { number, turn: 0, run, name, steps: 0, holding: None, missed: None }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What this buyer does next.
    pub(super) fn next(&mut self, hall: &Hall, rng: &mut impl RngExt) -> Ask {
        self.steps += 1;
        if let Some(holding) = &self.holding {
            let dice = rng.random_range(0..100);
            let at = format!("/v1/holds/{}", holding.id);
            if dice < EXTEND && !holding.extended {
                let body = json!({"extend": true}).to_string();
                return self.ask(Verb::Extend, Method::PATCH, at, Some(body));
            }
            if dice < EXTEND + RELEASE {
                return self.ask(Verb::Release, Method::DELETE, at, None);
            }
            if dice < 100 - ABANDON {
                let body = json!({"paid_elsewhere": true}).to_string();
                return self.ask(Verb::Confirm, Method::POST, format!("{at}/confirm"), Some(body));
            }
            // Walks away: the hold expires by itself. Somebody new comes in.
            self.go_home();
        }
        if let Some(seat) = self.missed.take()
            && rng.random_range(0..100) < QUEUE
        {
            let path = format!("/v1/events/{}/seats/{}/queue", hall.event, encoded(&seat));
            return self.ask(Verb::Queue, Method::POST, path, None);
        }
        let body = match hall.wish(rng) {
            Wish::Seats(seats) => {
                let seats: Vec<&str> = seats.iter().map(|seat| &**seat).collect();
                json!({"seats": seats})
            }
            Wish::Standing(area, count) => json!({"areas": [{"area": &*area, "count": count}]}),
        };
        self.ask(Verb::Hold, Method::POST, format!("/v1/events/{}/holds", hall.event), Some(body.to_string()))
    }

    fn ask(&self, verb: Verb, method: Method, path: String, body: Option<String>) -> Ask {
        let token = self.holding.as_ref().map(|holding| holding.token.clone());
        let idempotency_key = format!("{}-{}", self.name, self.steps);
        Ask { verb, method, path, body, token, idempotency_key }
    }

    /// Takes the answer in; returns what was promised, and the code of a refusal.
    pub(super) fn hear(
        &mut self,
        verb: Verb,
        reply: &Reply,
        hall: &Hall,
    ) -> (Option<Promise>, Option<Arc<str>>) {
        let told = reply.json();
        if reply.status < 300 {
            return (self.hear_yes(verb, &told, hall), None);
        }
        let code = text(&told, "code");
        for seat in list(&told, "seats") {
            match text(seat, "code").as_str() {
                "seat_sold" => hall.is_sold(&text(seat, "seat")),
                "seat_held" => self.missed = Some(text(seat, "seat")),
                _ => {}
            }
        }
        match code.as_str() {
            "buyer_limit" | "queue_limit" => self.go_home(),
            // Expired and the like: whatever was in hand is gone.
            _ if reply.status == 410 || reply.status == 404 || reply.status == 412 => self.holding = None,
            _ if verb == Verb::Extend => {
                if let Some(holding) = &mut self.holding {
                    holding.extended = true;
                }
            }
            _ => {}
        }
        (None, Some(code.into()))
    }

    fn hear_yes(&mut self, verb: Verb, told: &Value, hall: &Hall) -> Option<Promise> {
        let id = text(told, "id");
        match verb {
            Verb::Hold => {
                let seats: Vec<_> = list(told, "seats").iter().map(|seat| text(seat, "seat")).collect();
                let token = text(told, "token");
                self.holding = Some(Holding { id: id.clone(), token, seats: seats.clone(), extended: false });
                let (fence, buyer) = (told["fence"].as_u64()?, text(told, "buyer"));
                Some(Promise::Held { hold: id, fence, buyer, seats })
            }
            Verb::Extend => {
                if let Some(holding) = &mut self.holding {
                    holding.extended = true;
                }
                Some(Promise::Extended { hold: id, until: instant::ms(&told["expires_at"])? })
            }
            Verb::Release => {
                self.holding = None;
                Some(Promise::Released { hold: id })
            }
            Verb::Confirm => {
                let sold = self.holding.take().map(|holding| holding.seats).unwrap_or_default();
                sold.iter().for_each(|seat| hall.is_sold(seat));
                Some(Promise::Confirmed { hold: id, order: text(told, "order") })
            }
            Verb::Queue => Some(Promise::Queued { place: text(told, "place"), seat: text(told, "seat") }),
        }
    }

    fn go_home(&mut self) {
        self.turn += 1;
        self.name = format!("load-{:08x}-{}-{}", self.run, self.number, self.turn);
        self.holding = None;
        self.missed = None;
    }
}

/// A seat's name in a path: everything that is not plain is percent-encoded.
fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_safe_in_a_path() {
        assert_eq!(encoded("Stalls-A1"), "Stalls-A1");
        assert_eq!(encoded("a/b é\"?"), "a%2Fb%20%C3%A9%22%3F");
    }
}
