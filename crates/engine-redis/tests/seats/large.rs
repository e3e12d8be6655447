//! Large charts: what a held seat costs in Redis, with a buyer of its own for every seat, and long lists.

use onsale_domain::chart::Chart;
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{AdoptChart, BlockSeats, Pick, PlaceHold, UnblockSeats};
use onsale_domain::{BuyerId, Command, HoldId};
use onsale_engine::packed;
use onsale_engine_redis::Keys;
use onsale_engine_redis::caller::Stamp;
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;
use redis::Value;

use super::moves::{EVENT, NOW, create, layout_of, room};
use crate::differential::reference::Reference;

const SEATS: u32 = 10_000;
/// The bound of the layout, the stream of facts and the memory of keys aside.
const BYTES_MAX: i64 = 220;
/// The places of the stream and of the marker among a listing's keys.
const ASIDE: [usize; 2] = [9, 10];

fn hold(seat: u32) -> Command {
    // Spread like ids that were made at random, and buyers as long as accounts are.
    let id = u64::from(seat).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let buyer = BuyerId::parse(&format!("usr_{seat:026}")).expect("a short name");
    let (pick, areas) = (Pick::Seats(vec![seat]), Vec::new());
    Command::Event(EventCommand::PlaceHold(PlaceHold { hold: HoldId(id), buyer, pick, areas, hold_ms: None }))
}

#[tokio::test]
async fn a_held_seat_of_a_large_chart_takes_few_bytes() {
    let mut room = room().await;
    room.caller.prefix = "large:".into();
    room.caller.terms.compact_from = SEATS as usize;
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
        if let Ok(Value::Int(size)) = room.caller.link.query(&size).await
            && !key.contains("event:meta")
        {
            bytes += size;
        }
    }
    let each = bytes / i64::from(SEATS);
    println!("{each} bytes a held seat");
    assert!((1..=BYTES_MAX).contains(&each), "{each} bytes a held seat");
}

/// Lists longer than Lua's stack go through in pieces, and come to the same.
#[tokio::test]
async fn thousands_of_seats_in_one_command() {
    let mut room = room().await;
    for compact_from in [usize::MAX, 0] {
        room.caller.prefix = format!("long-{compact_from}:");
        room.caller.terms.compact_from = compact_from;
        let seats: Vec<u32> = (0..5_000).rev().collect();
        let (areas, reason) = (Vec::new(), "camera".to_owned());
        let some = seats.iter().copied().filter(|seat| seat % 3 == 0).collect();
        let layout = onsale_engine_redis::layout::Layout::of(5_000, compact_from);
        let chart = AdoptChart { venue: None, version: 2, layout: layout_of(2_500).into() };
        let (mut picture, mut reference) = (Picture::nothing(EVENT), Reference::new(EVENT));
        for command in [
            create(NOW, 5_000),
            Command::Event(EventCommand::BlockSeats(BlockSeats { seats, areas: areas.clone(), reason })),
            Command::Event(EventCommand::UnblockSeats(UnblockSeats { seats: some, areas })),
            hold(4_998),
            Command::Event(EventCommand::AdoptChart(Box::new(chart.clone()))),
            Command::ExpireDue { limit: 64 },
            hold(3),
            Command::Event(EventCommand::AdoptChart(Box::new(AdoptChart {
                layout: layout_of(5_100).into(),
                ..chart.clone()
            }))),
        ] {
            // Later, the hold that kept the chart from shrinking is over.
            let now = NOW + i64::from(matches!(command, Command::ExpireDue { .. })) * 120_000;
            let expected = reference.submit(&command, None, now);
            // Thousands of seats may take longer than a server waits before it asks again.
            let key = Stamp::Operation(u128::from(picture.listing.offset));
            let Reply::Answer(got) = room.ask(&picture, &command, key, now).await else { panic!() };
            assert_eq!((&got.outcome, got.step()), (&expected.outcome, expected.step()));
            got.step().into_iter().for_each(|step| assert!(picture.apply(step)));
            picture.layout = layout;
        }
        let read = room.picture().await;
        assert!(read.listing.canonical_image() == reference.listing.canonical_image());
    }
}

#[test]
fn the_largest_values_of_an_event_are_packed_to_a_fraction() {
    // Rows of a hundred, with labels and places as a house draws them.
    let seat = |n: u32| Seat {
        id: format!("Stalls-{}-{}", n / 100, n % 100),
        label: (n % 100).to_string(),
        x: (n % 100 * 10) as i32,
        y: (n / 100 * 12) as i32,
        ..Seat::default()
    };
    let row = |r: u32| Row { label: r.to_string(), seats: (r * 100..r * 100 + 100).map(seat).collect() };
    let stalls = Section { name: "Stalls".into(), rows: (0..500).map(row).collect() };
    let layout = Layout { sections: vec![stalls], areas: Vec::new() };
    let chart = Chart::default().adopt(&layout).image();
    let bytes =
        |written: Result<Vec<u8>, _>| written.unwrap_or_else(|_: minicbor::encode::Error<_>| Vec::new());
    for (what, plain) in
        [("layout", bytes(minicbor::to_vec(&layout))), ("chart", bytes(minicbor::to_vec(&chart)))]
    {
        let begun = std::time::Instant::now();
        let stored = packed::pack(plain.clone());
        let packed_in = begun.elapsed();
        let begun = std::time::Instant::now();
        let read = packed::unpack(&stored).expect("unpacks");
        let unpacked_in = begun.elapsed();
        assert_eq!(read, plain);
        println!(
            "{what}: {} bytes, packed {} in {packed_in:?}, back in {unpacked_in:?}",
            plain.len(),
            stored.len()
        );
        assert!(stored.len() * 4 < plain.len(), "{what}: {} of {} bytes", stored.len(), plain.len());
    }
}
