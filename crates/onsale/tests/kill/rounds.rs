//! Again and again: hammer, `kill -9` in the middle, restart, compare every answer that was ever given.
//! Ten times, or as often as `ONSALE_KILL_ROUNDS` says; `ONSALE_SEED` sends another crowd.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::IteratorRandom;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use crate::buyers::{Acknowledged, EVENTS, Hammer, Heard, ROWS, SEATS, seat};
use crate::dice;
use crate::recovered::{Recovered, replay, tally};
use crate::server::{self, Server};
use crate::wire::request;

/// Rounds where nobody asks for more.
const ROUNDS: usize = 10;
/// A round sells about 700 of the 20,000 seats; new events come long before nothing is left to hold.
const ROUNDS_PER_EVENTS: usize = 10;
/// A day's work at most; more is a slip of the finger.
const ROUNDS_MAX: usize = 10_000;
const CONNECTIONS: usize = 48;
/// A round goes on for at least so many answers, so that ten rounds make more than 20,000.
const ANSWERS_PER_ROUND: u64 = 2_100;
const ANSWERS_PER_ROUND_MIN: usize = 2_000;
/// A round that is slower than this is a failure of its own.
const ROUND_MAX: Duration = Duration::from_secs(60);
/// Requests sent again after each restart.
const REPLAYS_PER_ROUND: usize = 300;

#[test]
fn nothing_that_was_answered_is_lost_when_the_server_is_killed() {
    let _alone = crate::alone();
    let rounds = rounds(std::env::var("ONSALE_KILL_ROUNDS").ok().as_deref()).expect("ONSALE_KILL_ROUNDS");
    let folder = tempfile::tempdir().expect("a folder");
    let seed = dice::seed();
    let mut rng = StdRng::seed_from_u64(seed);
    let begun = Instant::now();
    let mut given: Vec<Acknowledged> = Vec::new();
    let (mut kills_in_flight, mut unanswered, mut refused, mut replayed) = (0, 0, 0, 0);
    let mut settled = Settled::default();
    let mut events = Vec::new();
    for round in 1..=rounds {
        let server = Server::start(folder.path());
        if (round - 1).is_multiple_of(ROUNDS_PER_EVENTS) {
            events.extend((0..EVENTS).map(|number| create_event(&server, number)));
        }
        let (heard, in_flight) = hammer_and_kill(server, &events, round, seed, &mut rng);
        kills_in_flight += usize::from(in_flight > 0);
        unanswered += heard.unanswered.len();
        refused += heard.refused;
        given.extend(heard.acknowledged);

        let server = Server::start(folder.path());
        compare(&server, &events, &given);
        replayed += replay(&server, given.iter().sample(&mut rng, REPLAYS_PER_ROUND).into_iter());
        settle(&server, heard.unanswered, &mut given, &mut settled);
        println!("round {round}: {} answers so far, {in_flight} requests in flight at the kill", given.len());
        // Gone without a word, this time with nothing under way.
        server.kill();
    }
    let server = Server::start(folder.path());
    let facts = compare(&server, &events, &given);
    let (status, _) = server.interrupt();
    assert!(status.success(), "Ctrl-C ends well: {status}");
    let (code, report) = server::verify(folder.path());
    assert_eq!((code, &report["sound"]), (Some(0), &json!(true)), "{report}");
    println!(
        "{} acknowledged answers compared over {rounds} kills {:?}; {facts} facts; {replayed} replays; \
         {kills_in_flight} kills with requests in flight, {unanswered} unanswered {settled:?}; \
         {refused} refusals; {:.1} s",
        given.len(),
        tally(&given),
        begun.elapsed().as_secs_f64(),
    );
    assert!(given.len() >= rounds * ANSWERS_PER_ROUND_MIN, "only {} answers", given.len());
    assert!(kills_in_flight >= 1 && unanswered >= 1, "no kill met a request in flight");
}

fn create_event(server: &Server, number: usize) -> String {
    let seats = |row: usize| (0..SEATS).map(|place| json!({"id": seat(row, place)})).collect::<Vec<_>>();
    let rows: Vec<_> = (0..ROWS).map(|row| json!({"label": row.to_string(), "seats": seats(row)})).collect();
    let body = json!({
        "name": format!("Concert {number}"), "currency": "EUR", "status": "on_sale",
        "starts_at": "2096-10-02T07:06:40Z", "ends_at": "2096-10-02T09:53:20Z",
        "tiers": [{"name": "All", "price_minor": 4200}],
        // Nothing expires by itself while the rounds go on.
        "hold_seconds": 900, "extensions_max": 3, "buyer_limit": 50,
        "layout": {"sections": [{"name": "Hall", "rows": rows}]},
    });
    let answer = server.exchange(&request("POST", "/v1/events", &[], &body.to_string()));
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()["id"].as_str().expect("an id").to_owned()
}

/// How many rounds are asked for. Nonsense is an error: a run that was meant to be long must not pass as a short one.
fn rounds(asked: Option<&str>) -> Result<usize, String> {
    let Some(asked) = asked else { return Ok(ROUNDS) };
    let rounds = asked.parse().ok().filter(|rounds| (1..=ROUNDS_MAX).contains(rounds));
    rounds.ok_or_else(|| format!("{asked:?} is not a number from 1 to {ROUNDS_MAX}"))
}

#[test]
fn the_environment_says_how_many_rounds() {
    assert_eq!(rounds(None), Ok(ROUNDS));
    assert_eq!(rounds(Some("50")), Ok(50));
    for nonsense in ["", "0", "-1", "ten", "5.0", " 5", "10001", "99999999999999999999"] {
        assert!(rounds(Some(nonsense)).is_err(), "{nonsense:?}");
    }
}

/// Hammers and kills at a random moment; says how many requests were in flight then.
fn hammer_and_kill(
    server: Server,
    events: &[String],
    round: usize,
    seed: u64,
    rng: &mut StdRng,
) -> (Heard, usize) {
    let hammer = Hammer {
        address: server.address,
        events,
        connections: CONNECTIONS,
        round,
        seed,
        stop: AtomicBool::new(false),
        answered: AtomicU64::new(0),
        in_flight: AtomicUsize::new(0),
    };
    let extra = Duration::from_millis(rng.random_range(0..250));
    let mut in_flight = 0;
    let heard = hammer.run(|| {
        let deadline = Instant::now() + ROUND_MAX;
        while hammer.answered.load(Ordering::Relaxed) < ANSWERS_PER_ROUND {
            assert!(Instant::now() < deadline, "round {round} is too slow");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(extra);
        // Sent and unanswered at this very moment.
        in_flight = hammer.in_flight.load(Ordering::SeqCst);
        server.kill();
    });
    (heard, in_flight)
}

fn compare(server: &Server, events: &[String], given: &[Acknowledged]) -> usize {
    let recovered: Vec<_> = events.iter().map(|event| Recovered::read(server, event)).collect();
    given.iter().for_each(|one| recovered[one.event].keeps(one));
    recovered.iter().map(Recovered::len).sum()
}

/// What became of requests without an answer, told by a retry under the same key.
#[derive(Debug, Default)]
struct Settled {
    /// It had happened before the kill, though nobody was told.
    had_happened: usize,
    happens_now: usize,
    refused: usize,
}

/// Sends what got no answer once more, under the same key.
fn settle(
    server: &Server,
    unanswered: Vec<(usize, crate::buyers::Verb, Vec<u8>)>,
    given: &mut Vec<Acknowledged>,
    settled: &mut Settled,
) {
    for (event, verb, request) in unanswered {
        let answer = server.exchange(&request);
        assert!(answer.status < 500, "{}", String::from_utf8_lossy(&answer.body));
        if answer.status < 300 {
            let replayed = answer.header("idempotent-replayed").is_some();
            *(if replayed { &mut settled.had_happened } else { &mut settled.happens_now }) += 1;
            let position = answer.header("onsale-position").unwrap_or_default().to_owned();
            let (status, body) = (answer.status, answer.body);
            given.push(Acknowledged { event, verb, request, status, position, body });
        } else {
            settled.refused += 1;
        }
    }
}

/// A small server state for the other tests: one event, some holds.
pub(crate) fn event_with_holds(server: &Server, holds: usize) -> String {
    let event = create_event(server, 0);
    for number in 0..holds {
        let (buyer, body) = (format!("b{number}"), json!({"seats": [seat(number / SEATS, number % SEATS)]}));
        let path = format!("/v1/events/{event}/holds");
        let answer = server.exchange(&request("POST", &path, &[("onsale-buyer", &buyer)], &body.to_string()));
        assert_eq!(answer.status, 201);
    }
    event
}

/// How many seats of an event are held.
pub(crate) fn held(server: &Server, event: &str) -> u64 {
    server.get(&format!("/v1/events/{event}/availability"))["totals"]["held"].as_u64().expect("a count")
}

/// The data folder inside a test's folder.
pub(crate) fn data(folder: &Path) -> std::path::PathBuf {
    folder.join("data")
}
