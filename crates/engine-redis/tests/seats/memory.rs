//! What a held seat of a large chart costs in Redis, with a buyer of its own for every seat.

use onsale_domain::command::{Pick, PlaceHold};
use onsale_domain::{BuyerId, Command, HoldId};
use onsale_engine_redis::Keys;
use onsale_engine_redis::desk::Stamp;
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;
use redis::Value;

use super::moves::{EVENT, NOW, create, room};

const SEATS: u32 = 10_000;
/// The bound of the layout, the stream of facts and the memory of keys aside.
const BYTES_MAX: i64 = 220;
/// The places of the stream and of the marker among a listing's keys.
const ASIDE: [usize; 2] = [9, 10];

fn hold(seat: u32) -> Command {
    // Spread like ids that were made at random, and buyers as long as accounts are.
    let id = u128::from(seat).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let buyer = BuyerId::parse(&format!("usr_{seat:026}")).expect("a short name");
    let (pick, areas) = (Pick::Seats(vec![seat]), Vec::new());
    Command::PlaceHold(PlaceHold { hold: HoldId(id), buyer, pick, areas, hold_ms: None })
}

#[tokio::test]
async fn a_held_seat_of_a_large_chart_takes_few_bytes() {
    let mut room = room().await;
    room.desk.prefix = "large:".into();
    room.desk.terms.compact_from = SEATS as usize;
    room.take(&mut Picture::nothing(EVENT), &create(NOW, SEATS)).await;
    let picture = room.picture().await;
    for seat in 0..SEATS {
        // A few hundred holds a second, as on a busy evening.
        let now = NOW + i64::from(seat) * 3;
        let reply = room.ask(&picture, &hold(seat), Stamp::None, now).await;
        assert!(matches!(&reply, Reply::Answer(answer) if answer.outcome.refused().is_none()), "{reply:?}");
    }
    let mut bytes = 0;
    for (_, key) in Keys::new("large:", &EVENT).all().iter().enumerate().filter(|(n, _)| !ASIDE.contains(n)) {
        // The chart's own image is there before anybody holds a seat.
        let size = redis::cmd("MEMORY").arg("USAGE").arg(key).arg("SAMPLES").arg(0).to_owned();
        if let Ok(Value::Int(size)) = room.desk.link.query(&size).await
            && !key.contains("event:meta")
        {
            bytes += size;
        }
    }
    let each = bytes / i64::from(SEATS);
    println!("{each} bytes a held seat");
    assert!((1..=BYTES_MAX).contains(&each), "{each} bytes a held seat");
}
