//! Servers whose clocks are a minute apart: both tell the time of Redis, and no deadline depends on who is asked.

use crate::server::ms;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::server::{Deployment, Server};
use crate::wire::{Answer, request};
use onsale_redis_servers::{Brand, Server as Redis};

const SKEW_S: i64 = 60;
/// Half of the skew: who believed the wrong clock would be further off than the busiest machine is slow.
const HALF_MS: i64 = SKEW_S * 1_000 / 2;
/// The shortest hold there is; by a clock that is a minute ahead it is over when it is made.
const HOLD_MS: i64 = 30_000;

/// Stands between the server and the system's clock.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t which, struct timespec *to) {
  const char *ahead = getenv("CLOCK_AHEAD_S");
  int told = (int) syscall(SYS_clock_gettime, which, to);
  if (told == 0 && which == CLOCK_REALTIME && ahead) to->tv_sec += atol(ahead);
  return told;
}
"#;

/// The linker that built this test can build it, too.
fn shim(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    std::fs::write(&source, SHIM).expect("written");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(built.expect("cc is there: nothing is linked without it").success());
    library
}

fn hold(server: &Server, event: &str, seat: usize, buyer: &str) -> Answer {
    let body = json!({"seats": [format!("A-{seat}")], "hold_seconds": HOLD_MS / 1_000}).to_string();
    let path = format!("/v1/events/{event}/holds");
    server.try_exchange(&request("POST", &path, &[("onsale-buyer", buyer)], &body)).expect("an answer")
}

fn instant(answer: &Answer, field: &str) -> i64 {
    ms(&answer.json()[field])
}

/// When the process started, by the clock of its machine.
fn started(server: &Server) -> f64 {
    let metrics = server.try_get("/metrics").expect("an answer");
    let text = String::from_utf8_lossy(&metrics.body).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("process_start_time_seconds "));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn clocks_a_minute_apart_change_no_answer_and_no_deadline() {
    let _alone = crate::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let library = shim(folder.path()).display().to_string();
    let redis = Redis::start(Brand::Redis);
    let right = Deployment::single(&redis.url());
    let off = |seconds: i64| {
        right.clone().with("LD_PRELOAD", &library).with("CLOCK_AHEAD_S", &seconds.to_string()).start()
    };
    let servers = [right.start(), off(SKEW_S), off(-SKEW_S)];
    let skew = |server: &Server| started(server) - started(&servers[0]);
    assert!(skew(&servers[1]) > 30.0 && skew(&servers[2]) < -30.0, "the clocks do not differ");
    let now = || {
        let time: (i64, i64) = redis.say("TIME").expect("a time");
        time.0 * 1_000 + time.1 / 1_000
    };
    let event = servers[0].create_event(10);
    for server in &servers {
        server.until("it knows the event", |one| {
            one.try_get(&format!("/v1/events/{event}")).is_some_and(|told| told.status == 200)
        });
        let told = ms(&server.get("/v1/time")["now"]);
        assert!((told - now()).abs() < HALF_MS, "{told} is not the time of redis, {}", now());
    }
    for (seat, maker) in (1..).zip(&servers) {
        let held = hold(maker, &event, seat, "ann");
        assert_eq!(held.status, 201, "{:?}", held.json());
        let (placed, until) = (instant(&held, "placed_at"), instant(&held, "expires_at"));
        assert!(until - placed == HOLD_MS && (placed - now()).abs() < HALF_MS, "{:?}", held.json());
        let id = held.json()["id"].as_str().expect("an id").to_owned();
        for server in &servers {
            // Whoever is asked knows the same deadline, has not swept the hold away, and gives nobody the seat.
            let path = format!("/v1/holds/{id}");
            let seen = server.try_exchange(&request("GET", &path, &[("onsale-buyer", "ann")], ""));
            let seen = seen.expect("an answer");
            assert_eq!((seen.status, instant(&seen, "expires_at")), (200, until), "{:?}", seen.json());
            let refused = hold(server, &event, seat, "bob");
            assert_eq!((refused.status, refused.json()["code"].as_str()), (409, Some("seat_held")));
            server.until("it shows the hold", |one| {
                let told = one.get(&format!("/v1/events/{event}/availability"));
                told["totals"]["held"].as_u64() == Some(seat as u64)
            });
        }
    }
}
