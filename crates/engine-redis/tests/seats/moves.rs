//! What scripts answer when the caller's picture is old, when the stream was cut, and by the server's own clock.

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::listing::Key;
use onsale_domain::money::Currency;
use onsale_domain::seats::command::{AdoptChart, BestAvailable, ChangeEvent, CreateEvent, Pick, PlaceHold};
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::{BuyerId, Code, Command, Fact, HoldId, ListingId, ListingKind, Millis, Tenant};
use onsale_engine::Answer;
use onsale_engine_redis::caller::{ScriptCaller, Stamp};
use onsale_engine_redis::commands::Terms;
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;
use onsale_engine_redis::{Keys, layout};

use crate::lua;
use crate::server::Server;

pub(crate) const EVENT: ListingId =
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 77 };
pub(crate) const NOW: Millis = 1_700_000_000_000;

pub(crate) struct Room {
    pub caller: ScriptCaller,
    _server: Server,
}

pub(crate) async fn room() -> Room {
    let server = Server::start();
    let (link, scripts) = (server.link().await, lua::scripts("moves"));
    link.load(scripts.iter()).await.expect("scripts that compile");
    let terms = Terms { epoch: 1, compact_from: usize::MAX, strict: true, plain: true };
    let room = Room { caller: ScriptCaller { link, scripts, prefix: String::new(), terms }, _server: server };
    let mut picture = Picture::nothing(EVENT);
    room.take(&mut picture, &create(NOW, 6)).await;
    room
}

impl Room {
    pub(crate) async fn ask(
        &self,
        picture: &Picture,
        command: &Command,
        stamp: Stamp,
        clock: Millis,
    ) -> Reply {
        self.caller.submit(picture, command, (stamp, None), clock, clock).await.expect("an answer")
    }

    pub(crate) async fn take(&self, picture: &mut Picture, command: &Command) -> Answer {
        // Under a key, so that plain holds take their short way.
        let key = Stamp::Operation(u128::from(picture.listing.offset));
        let reply = self.ask(picture, command, key, NOW).await;
        let Reply::Answer(answer) = reply else { panic!("{reply:?}") };
        answer.step().into_iter().for_each(|step| assert!(picture.apply(step)));
        *answer
    }

    pub(crate) async fn picture(&self) -> Picture {
        self.caller.picture(EVENT).await.expect("a picture")
    }
}

pub(crate) fn layout_of(seats: u32) -> Layout {
    let seat = |n: u32| Seat { id: format!("S{n}"), ..Seat::default() };
    let row = Row { label: "r".into(), seats: (0..seats).map(seat).collect() };
    Layout { sections: vec![Section { name: "s".into(), rows: vec![row] }], areas: Vec::new() }
}

pub(crate) fn create(now: Millis, seats: u32) -> Command {
    let details = EventDetails {
        name: "small".into(),
        description: String::new(),
        venue: None,
        starts_at: now + 900_000_000_000,
        ends_at: now + 910_000_000_000,
        sale_opens_at: None,
        sale_closes_at: None,
        time_zone: "UTC".into(),
        currency: Currency::parse("EUR").expect("three letters"),
        tiers: vec![Tier { name: "t".into(), price_minor: 700 }],
        rules: SaleRules::default(),
    };
    let chart = AdoptChart { venue: None, version: 1, layout: layout_of(seats).into() };
    Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent {
        details,
        status: EventStatus::OnSale,
        chart,
    })))
}

fn hold(id: u64, pick: Pick) -> Command {
    let buyer = BuyerId::parse("ann").expect("a short name");
    Command::Event(EventCommand::PlaceHold(PlaceHold {
        hold: HoldId(id),
        buyer,
        pick,
        areas: Vec::new(),
        hold_ms: None,
    }))
}

fn best(id: u64, count: u32) -> Command {
    hold(id, Pick::Best(BestAvailable { count, section: None, tier: None, accessible: false }))
}

fn why(reply: Reply) -> String {
    match reply {
        Reply::Retry { why, .. } => why,
        Reply::Answer(answer) => format!("{:?}", answer.outcome),
        Reply::Trimmed { .. } => "trimmed".into(),
        Reply::Damaged => "damaged".into(),
    }
}

#[tokio::test]
async fn a_choice_from_an_old_position_is_made_again_unless_the_caller_has_tried_enough() {
    let mut room = room().await;
    let (old, mut fresh) = (room.picture().await, room.picture().await);
    room.take(&mut fresh, &hold(1, Pick::Seats(vec![0]))).await;
    assert_eq!(why(room.ask(&old, &best(2, 2), Stamp::None, NOW).await), "moved");
    room.caller.terms.strict = false;
    assert_eq!(why(room.ask(&old, &best(3, 2), Stamp::None, NOW).await), "Done");
    // Now what the old picture would choose is taken.
    assert_eq!(why(room.ask(&old, &best(4, 2), Stamp::None, NOW).await), "moved");
    // A deadline has passed since the choice was made.
    room.caller.terms.strict = true;
    let fresh = room.picture().await;
    let reply = room.caller.submit(&fresh, &best(5, 2), (Stamp::None, None), NOW + 120_000, NOW).await;
    assert_eq!(why(reply.expect("an answer")), "time");
}

#[tokio::test]
async fn details_and_charts_are_made_from_the_latest() {
    let room = room().await;
    let (old, mut fresh) = (room.picture().await, room.picture().await);
    let rename = |name: &str| {
        let name = Some(name.to_owned());
        Command::Event(EventCommand::ChangeEvent(Box::new(ChangeEvent { name, ..ChangeEvent::default() })))
    };
    room.take(&mut fresh, &rename("a")).await;
    assert_eq!(why(room.ask(&old, &rename("b"), Stamp::None, NOW).await), "versions");
    let adopt = AdoptChart { venue: None, version: 2, layout: layout_of(8).into() };
    let adopt = Command::Event(EventCommand::AdoptChart(Box::new(adopt)));
    assert_eq!(why(room.ask(&old, &adopt, Stamp::None, NOW).await), "versions");
    room.take(&mut fresh, &adopt).await;
    // A picture that knows nothing yet asks again, too; an old one may still hold a seat that it knows.
    assert_eq!(why(room.ask(&Picture::nothing(EVENT), &adopt, Stamp::None, NOW).await), "versions");
    assert_eq!(why(room.ask(&old, &hold(1, Pick::Seats(vec![5])), Stamp::None, NOW).await), "Done");
    assert_eq!(
        why(room.ask(&Picture::nothing(EVENT), &hold(2, Pick::Seats(vec![7])), Stamp::None, NOW).await),
        "Done"
    );
}

#[tokio::test]
async fn a_plain_hold_from_an_old_picture_costs_what_the_event_says_now() {
    let room = room().await;
    let mut fresh = room.picture().await;
    room.take(&mut fresh, &hold(1, Pick::Seats(vec![0]))).await;
    let old = fresh.clone();
    let tiers = Some(vec![Tier { name: "t".into(), price_minor: 900 }]);
    let dearer = ChangeEvent { tiers, ..ChangeEvent::default() };
    room.take(&mut fresh, &Command::Event(EventCommand::ChangeEvent(Box::new(dearer)))).await;
    for (picture, id) in [(&old, 2), (&fresh, 3)] {
        let wish = hold(u64::from(id), Pick::Seats(vec![id]));
        let reply = room.ask(picture, &wish, Stamp::Operation(u128::from(id) << 64), NOW).await;
        let Reply::Answer(answer) = reply else { panic!("{reply:?}") };
        let Some([Fact::Event(EventFact::HoldPlaced { seats, .. })]) =
            answer.step().map(|step| step.facts.as_slice())
        else {
            panic!("{answer:?}")
        };
        assert_eq!(seats[0].price_minor, 900);
    }
}

#[tokio::test]
async fn another_layout_is_told() {
    let room = room().await;
    let mut picture = room.picture().await;
    picture.layout = layout::Layout::Compact;
    let reply = room.ask(&picture, &hold(1, Pick::Seats(vec![0])), Stamp::None, NOW).await;
    assert!(
        matches!(&reply, Reply::Retry { why, detail, .. } if why == "layout" && detail == "hash"),
        "{reply:?}"
    );
}

#[tokio::test]
async fn an_answer_whose_facts_were_cut_off_is_still_not_given_twice() {
    let room = room().await;
    let picture = room.picture().await;
    let key = Stamp::Key(Key { scope: 5, fingerprint: 6 });
    let wish = hold(1, Pick::Seats(vec![0]));
    assert_eq!(why(room.ask(&picture, &wish, key, NOW).await), "Done");
    let stream = Keys::new("", &EVENT).facts().to_owned();
    let cut = redis::cmd("XTRIM").arg(stream).arg("MAXLEN").arg(0).to_owned();
    room.caller.link.query(&cut).await.expect("trimmed");
    assert_eq!(why(room.ask(&picture, &wish, key, NOW).await), "trimmed");
}

#[tokio::test]
async fn time_is_the_servers_own_and_never_before_the_last_fact() {
    let room = room().await;
    let reply = room.ask(&room.picture().await, &hold(1, Pick::Seats(vec![0])), Stamp::None, 0).await;
    let Reply::Answer(answer) = reply else { panic!("{reply:?}") };
    assert!(answer.at > NOW, "the server's clock is past 2023");
    let reply = room.ask(&room.picture().await, &hold(2, Pick::Seats(vec![0])), Stamp::None, NOW).await;
    let Reply::Answer(later) = reply else { panic!("{reply:?}") };
    assert_eq!(later.at, answer.at);
    assert_eq!(
        later.outcome.refused().map(|refusal| refusal.code),
        None,
        "exactly the same seats are theirs"
    );
    let reply = room.ask(&Picture::nothing(EVENT), &create(NOW, 6), Stamp::None, 0).await;
    let Reply::Answer(again) = reply else { panic!("{reply:?}") };
    assert_eq!(again.outcome.refused().map(|refusal| refusal.code), Some(Code::ListingExists));
}

#[tokio::test]
async fn who_has_forgotten_the_scripts_says_so() {
    let room = room().await;
    let picture = room.picture().await;
    room.caller.link.query(redis::cmd("SCRIPT").arg("FLUSH")).await.expect("flushed");
    let answer = room.caller.submit(&picture, &best(1, 1), (Stamp::None, None), NOW, NOW).await;
    assert!(matches!(
        answer,
        Err(onsale_engine_redis::caller::CallError::Link(onsale_engine_redis::LinkError::Forgotten { .. }))
    ));
}

#[tokio::test]
async fn the_marker_ends_at_the_next_deadline() {
    let mut room = room().await;
    for compact_from in [usize::MAX, 0] {
        room.caller.prefix = format!("marked-{compact_from}:");
        room.caller.terms.compact_from = compact_from;
        room.take(&mut Picture::nothing(EVENT), &create(NOW, 6)).await;
        let mut picture = room.picture().await;
        for (seat, hold_ms) in [(0, 60_000), (1, 30_000), (2, 90_000)] {
            let mut command = hold(u64::from(seat) + 1, Pick::Seats(vec![seat]));
            if let Command::Event(EventCommand::PlaceHold(hold)) = &mut command {
                hold.hold_ms = Some(hold_ms);
            }
            room.take(&mut picture, &command).await;
        }
        let key = Keys::new(&room.caller.prefix, &EVENT).marker().to_owned();
        for (after, next) in [(0, 30_000), (30_000, 60_000), (75_000, 90_000)] {
            let _ = room.ask(&picture, &Command::ExpireDue { limit: 9 }, Stamp::None, NOW + after).await;
            let marker = room.caller.link.query(redis::cmd("GET").arg(&key)).await.expect("a marker");
            assert_eq!(marker, redis::Value::BulkString((NOW + next).to_string().into_bytes()), "at {after}");
        }
    }
}

#[tokio::test]
async fn a_create_over_a_listing_without_its_head_is_told_and_writes_nothing() {
    let room = room().await;
    let keys = Keys::new("", &EVENT);
    let tell = async |words: &[&str]| {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        room.caller.link.query(&command).await.expect("an answer")
    };
    tell(&["DEL", keys.head()]).await;
    let left = [tell(&["DUMP", keys.meta()]).await, tell(&["DUMP", keys.facts()]).await];
    let again = create(NOW, 6);
    let reply = room.ask(&Picture::nothing(EVENT), &again, Stamp::Operation(99), NOW).await;
    assert!(matches!(reply, Reply::Damaged), "{reply:?}");
    assert_eq!([tell(&["DUMP", keys.meta()]).await, tell(&["DUMP", keys.facts()]).await], left);
    assert_eq!(tell(&["EXISTS", keys.head()]).await, redis::Value::Int(0));
}
