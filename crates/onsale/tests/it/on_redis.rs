//! The same server over HTTP with the engine on a Redis, where a test moves its clock: what an hour, or the bound on what is
//! remembered, leaves of a request that is repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use onsale_engine_redis::live::{Options, RECORD_BYTES, RedisEngine};
use onsale_engine_redis::{Link, link};
use onsale_redis_servers::{Brand, Server as Redis};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::house::{Answer, House};

const NOW: i64 = 1_900_000_000_000;
const HOUR: i64 = 3_600_000;

/// A house over an engine with these options; its tasks live as long as the runtime.
fn open(redis: &Redis, runtime: &Runtime, options: Options) -> House<RedisEngine> {
    let engine = runtime.block_on(async {
        let link = Link::open(link::Config::from(&redis.url())).await.expect("a server");
        RedisEngine::open(link, options).await.expect("an engine")
    });
    House::serve(|_| {}, Arc::new(engine))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

fn confirm(house: &House<RedisEngine>, hold: &Value, headers: &[(&str, &str)]) -> Answer {
    house.post(&format!("/v1/holds/{}/confirm", text(hold, "id")), headers, json!({"paid_elsewhere": true}))
}

#[test]
fn a_confirmation_is_repeated_by_its_token_alone_after_an_hour_on_redis() {
    let redis = Redis::start(Brand::Redis);
    let runtime = Runtime::new().expect("a runtime");
    let clock = Arc::new(AtomicI64::new(NOW));
    let house = open(&redis, &runtime, Options { clock: Some(clock.clone()), ..Options::default() });
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let headers = [("hold-token", text(&hold, "token")), ("idempotency-key", "one")];
    let confirmed = confirm(&house, &hold, &headers);
    assert_eq!(confirmed.status, 200, "{confirmed:?}");
    clock.store(NOW + 2 * HOUR, Ordering::Relaxed);
    // Whatever ends next makes the listing forget holds that ended more than an hour ago.
    let other = house.hold(&event, "bob", &["A-1-2"]);
    confirm(&house, &other, &[("hold-token", text(&other, "token"))]);
    let again = confirm(&house, &hold, &headers);
    assert_eq!((again.status, again.header("idempotent-replayed")), (200, Some("true")), "{again:?}");
    assert_eq!(again.body, confirmed.body);
    // Under another key nothing is known of it any more.
    let fresh = [headers[0], ("idempotency-key", "two")];
    confirm(&house, &hold, &fresh).problem(404, "hold_unknown");
    confirm(&house, &hold, &headers[..1]).problem(404, "hold_unknown");
}

#[test]
fn over_the_bound_the_metrics_tell_what_was_forgotten() {
    const HOLDS: usize = 40;
    let redis = Redis::start(Brand::Redis);
    let runtime = Runtime::new().expect("a runtime");
    // Everything is old enough to go.
    let bound = 2 * HOLDS as u64 * RECORD_BYTES;
    let options = Options { history_max_bytes: bound, history_min_ms: -60_000, ..Options::default() };
    let house = open(&redis, &runtime, options);
    let event = house.event();
    let holds = format!("/v1/events/{event}/holds");
    let hold = |number: usize| {
        let (buyer, key) = (format!("buyer-{number}"), format!("hold-{number}"));
        let seat = json!({"seats": [format!("A-{}-{}", 1 + number % 20 / 10, 1 + number % 10)]});
        house.post(&holds, &[("onsale-buyer", &buyer), ("idempotency-key", &key)], seat)
    };
    let metric = |name: &str| {
        let page = String::from_utf8_lossy(&house.get("/metrics").body).into_owned();
        page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<f64>().ok())
    };
    for number in 0..HOLDS {
        let held = hold(number);
        // Two rounds over the twenty seats: the second finds them free again.
        assert_eq!(held.status, 201, "{held:?}");
        if number + 1 == HOLDS {
            break;
        }
        let released = format!("/v1/holds/{}", text(&held.json(), "id"));
        let token = text(&held.json(), "token").to_owned();
        assert_eq!(house.send("DELETE", &released, &[("hold-token", &token)], None).status, 200);
    }
    // The server looks by itself, too; twice measured is once after the last cut.
    (0..2).for_each(|_| runtime.block_on(house.engine.keep_history()));
    let bytes = metric("onsale_engine_history_bytes").expect("facts are measured");
    assert!(bytes > 0.0 && bytes <= bound as f64, "{bytes} of {bound}");
    assert_eq!(metric("onsale_engine_history_max_bytes"), Some(bound as f64));
    let forgotten = metric("onsale_engine_dedup_forgotten_total").expect("it is counted");
    assert!(forgotten >= 10.0, "{forgotten} were forgotten");
    let window = metric("onsale_engine_dedup_window_seconds").expect("something was forgotten early");
    assert!(window > 0.0 && window < 600.0, "{window} s");
    // Which is what it says: the last is told again, the first decided anew.
    let last = hold(HOLDS - 1);
    assert_eq!((last.status, last.header("idempotent-replayed")), (201, Some("true")), "{last:?}");
    let first = hold(0);
    assert_eq!((first.status, first.header("idempotent-replayed")), (201, None), "{first:?}");
}
