//! Two servers on one Redis, buyers who pay, a provider that misbehaves, and the server that looks after the payments
//! dies. Afterwards nobody has paid twice, nothing is forgotten, and the money adds up.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::{Deployment, Server};
use crate::wire::{Answer, request};
use onsale_redis_servers::{Brand, Server as Redis, Setup};

const ORDERS: usize = 36;
/// Far more than all of it takes on a busy machine; holds live longer.
const PATIENCE: Duration = Duration::from_secs(120);
/// What each order's payment does; a provider inside a server forgets what it did when the server dies, so only those
/// that it tells again the same.
const METHODS: [&str; 4] = ["succeed", "duplicate", "decline", "lost"];

struct House {
    servers: Vec<Server>,
}

impl House {
    /// Asks until some server answers; under one key it is one ask.
    fn post(&self, first: usize, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let body = body.to_string();
        for turn in 0..200 {
            let server = &self.servers[(first + turn) % self.servers.len()];
            let told = server.try_exchange(&request("POST", path, headers, &body));
            if let Some(answer) = told.filter(|answer| answer.status != 503) {
                assert!((200..300).contains(&answer.status), "POST {path}: {answer:?}");
                return answer;
            }
        }
        panic!("nobody answers POST {path}");
    }

    /// The server that says last of itself that it looks after payments.
    fn leader(&self) -> Option<usize> {
        let leads = |server: &Server| {
            let log = server.log();
            let (ours, theirs) = (log.rfind("this server looks after"), log.rfind("another server may look"));
            ours.is_some() && ours > theirs
        };
        self.servers.iter().position(leads)
    }
}

#[test]
fn the_server_that_looks_after_payments_dies_and_the_money_adds_up() {
    let _alone = crate::alone();
    let redis = Redis::with(Brand::Redis, Setup::default().with("appendonly yes"));
    let deployment = Deployment::single(&redis.url()).with("ONSALE_PAYMENTS__FEE_PER_ORDER_MINOR", "150");
    let mut house = House { servers: vec![deployment.start(), deployment.start()] };
    house.servers[0].until("somebody looks after payments", |_| house.leader().is_some());
    let event = house.servers[0].create_event(ORDERS);

    let mut orders = Vec::new();
    for n in 0..ORDERS {
        let buyer = format!("buyer-{n}");
        let body = json!({"seats": [format!("A-{}", n + 1)], "hold_seconds": 900});
        let key = format!("hold-{n}");
        let headers = [("onsale-buyer", buyer.as_str()), ("idempotency-key", key.as_str())];
        let hold = house.post(n, &format!("/v1/events/{event}/holds"), &headers, &body).json();
        let token = hold["token"].as_str().expect("a token").to_owned();
        let headers = [("onsale-buyer", buyer.as_str()), ("hold-token", token.as_str())];
        let path = format!("/v1/holds/{}/order", hold["id"].as_str().expect("an id"));
        orders.push((buyer.clone(), house.post(n, &path, &headers, &json!({})).json()));
    }
    let mut payments = BTreeMap::new();
    for (n, (buyer, order)) in orders.iter().enumerate() {
        if n == ORDERS / 3 {
            // In the middle of everything: some are asked for, some answered, some told.
            let leader = house.leader().expect("somebody looks after payments");
            house.servers[leader].kill();
            house.servers.remove(leader);
        }
        let path = format!("/v1/orders/{}/pay", order["id"].as_str().expect("an id"));
        let key = format!("pay-{n}");
        let headers = [
            ("onsale-buyer", buyer.as_str()),
            ("idempotency-key", key.as_str()),
            ("order-key", order["key"].as_str().expect("a key")),
        ];
        let paying = house.post(n, &path, &headers, &json!({"method": METHODS[n % METHODS.len()]})).json();
        payments.insert(paying["payment"].as_str().expect("an id").to_owned(), n);
    }
    let living = &house.servers[0];
    let begun = Instant::now();
    let patiently = |what: &str, done: &dyn Fn() -> bool| {
        while !done() {
            assert!(begun.elapsed() < PATIENCE, "{what} does not happen: {}", living.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        println!("{what}: {:?}", begun.elapsed());
    };
    patiently("the other takes over", &|| house.leader().is_some());
    let path = |order: &Value| format!("/v1/orders/{}", order["id"].as_str().expect("an id"));
    patiently("every payment is settled", &|| {
        orders.iter().all(|(_, order)| living.get(&path(order))["status"] != "paying")
    });

    let (mut captured, mut refunded, mut confirmed) = (0, 0, 0);
    for (n, (_, order)) in orders.iter().enumerate() {
        let order = living.get(&path(order));
        let declined = METHODS[n % METHODS.len()] == "decline";
        let wanted = if declined { "pending" } else { "confirmed" };
        assert_eq!(order["status"], wanted, "{order}");
        assert_eq!(order["total_minor"], 1_150, "{order}");
        let all = order["payments"].as_array().expect("payments");
        assert_eq!(all.len(), 1, "asked once: {order}");
        let mut kept = 0;
        for payment in all {
            let took = payment["captured_minor"].as_i64().unwrap_or(0);
            let back = payment["refunds"].as_array().into_iter().flatten();
            let back: i64 = back.map(|refund| refund["amount_minor"].as_i64().expect("an amount")).sum();
            captured += took;
            refunded += back;
            kept += took - back;
        }
        assert_eq!(kept, if declined { 0 } else { 1_150 }, "nobody pays twice, or for nothing: {order}");
        confirmed += if declined { 0 } else { 1_150 };
    }
    println!("captured {captured}, refunded {refunded}, confirmed {confirmed}");
    assert_eq!(captured - refunded, confirmed);
    for (payment, n) in &payments {
        let payment = living.get(&format!("/v1/payments/{payment}"));
        let wanted = if METHODS[n % METHODS.len()] == "decline" { "declined" } else { "captured" };
        assert_eq!(payment["status"], wanted, "{payment}");
    }
}
