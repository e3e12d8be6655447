//! The rules of series: one sale per slot, whichever server asks; slots by the hour or by a cron line in a time zone.

use onsale_domain::money::Currency;
use onsale_domain::refusal::{Code, Detail};
use onsale_domain::series::command::{ChangeSeries, OpenSlot, SeriesCommand};
use onsale_domain::series::details::{ItemTemplate, SaleTemplate, SeriesDetails};
use onsale_domain::series::fact::SkipCause;
use onsale_domain::series::image::SeriesImage;
use onsale_domain::series::schedule::{Schedule, Slot, Utc, Zone};
use onsale_domain::series::{Plan, Series, SeriesFact, SeriesStatus, items, sale_of};
use onsale_domain::step_writer::StepWriter;
use onsale_domain::stock::Sale;
use onsale_domain::stock::details::StockRules;
use onsale_domain::{Fact, Kind};
use onsale_domain::{ListingId, ListingKind, Millis, Outcome, Refusal, Tenant};

const HOUR: Millis = 3_600_000;
/// 2026-11-16T00:00:00Z.
const MIDNIGHT: Millis = 1_794_787_200_000;
const SERIES: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Series, number: 77 };

fn details(schedule: Schedule) -> SeriesDetails {
    let template = SaleTemplate {
        name: "on the hour".into(),
        description: String::new(),
        currency: Currency::parse("EUR").expect("three letters"),
        rules: StockRules::default(),
        length_ms: HOUR,
        items: vec![
            ItemTemplate { price_minor: 900, stock: 10, name: None, picture: None },
            ItemTemplate {
                price_minor: 0,
                stock: 1,
                name: Some("The last mug".into()),
                picture: Some("https://cdn.example/mug.png".into()),
            },
        ],
    };
    SeriesDetails { name: "hourly".into(), schedule, from: MIDNIGHT, template }
}

fn series(schedule: Schedule) -> Series {
    let facts = Series::create(&details(schedule)).expect("it can be created");
    Series::begin(SERIES, &facts[0]).expect("the first fact begins it")
}

fn ask(series: &mut Series, command: &SeriesCommand, now: Millis) -> Result<Vec<SeriesFact>, Refusal> {
    // A copy from the image and one from the facts decide alike.
    let bytes = minicbor::to_vec(series.image()).expect("memory takes it");
    let image: SeriesImage = minicbor::decode(&bytes).expect("it was just written");
    let (mut reread, mut replayed) = (Series::from_image(SERIES, image), series.clone());
    let executed = |series: &mut Series| {
        let mut written = Vec::new();
        let answer = series.execute(command, &mut StepWriter::new(now, 0, &mut written));
        let own =
            |fact: Fact| if let Fact::Series(fact) = fact { fact } else { panic!("{fact:?} of a series") };
        (answer, written.into_iter().map(own).collect::<Vec<SeriesFact>>())
    };
    let (answer, facts) = executed(series);
    assert_eq!(executed(&mut reread), (answer.clone(), facts.clone()));
    facts.iter().for_each(|fact| replayed.apply(fact, now));
    for fact in &facts {
        let bytes = minicbor::to_vec(fact).expect("memory takes it");
        assert_eq!(minicbor::decode::<SeriesFact>(&bytes).expect("it was just written"), *fact);
    }
    let picture = |series: &Series| minicbor::to_vec(series.image()).expect("memory takes it");
    assert_eq!((picture(&reread), picture(&replayed)), (picture(series), picture(series)));
    assert_eq!(answer?, if facts.is_empty() { Outcome::Unchanged } else { Outcome::Done });
    Ok(facts)
}

fn utc(at: Millis) -> Slot {
    Slot { at, offset_s: 0 }
}

fn open(at: Millis) -> SeriesCommand {
    SeriesCommand::OpenSlot(OpenSlot { slot: utc(at), skipped: Vec::new() })
}

fn code(result: Result<Vec<SeriesFact>, Refusal>) -> Code {
    result.expect_err("a refusal").code
}

/// Does what a server would do until there is nothing to do: what it asked, and when it looks again.
fn serve(series: &mut Series, zone: &impl Zone, now: Millis) -> (Vec<SeriesFact>, Option<Millis>) {
    let mut all = Vec::new();
    loop {
        match series.plan(now, zone) {
            Plan::Ask(command) => {
                let facts = ask(series, &command, now).expect("what is planned is granted");
                assert!(!facts.is_empty(), "a plan that does nothing is planned for ever: {command:?}");
                all.extend(facts);
            }
            Plan::WaitUntil(at) => return (all, Some(at)),
            Plan::Rest => return (all, None),
        }
    }
}

fn opened(facts: &[SeriesFact]) -> Vec<Millis> {
    let at = |fact: &SeriesFact| {
        let SeriesFact::SlotOpened { slot, sale } = fact else { return None };
        assert_eq!(*sale, sale_of(SERIES, slot.at));
        Some(slot.at)
    };
    facts.iter().filter_map(at).collect()
}

fn skipped(facts: &[SeriesFact]) -> Vec<(Millis, SkipCause)> {
    let at = |fact: &SeriesFact| {
        let SeriesFact::SlotSkipped { slot, why } = fact else { return None };
        Some((slot.at, *why))
    };
    facts.iter().filter_map(at).collect()
}

#[test]
fn a_slot_is_opened_a_minute_early_and_only_once() {
    let mut series = series(Schedule::Hourly);
    let at = MIDNIGHT + HOUR;
    assert_eq!(code(ask(&mut series, &open(at), at - 60_001)), Code::SlotEarly);
    assert_eq!(opened(&ask(&mut series, &open(at), at - 60_000).unwrap()), [at]);
    // The other server, a moment later, and the same one after a restart.
    assert_eq!(ask(&mut series, &open(at), at - 59_000).unwrap(), []);
    assert_eq!(ask(&mut series, &open(at), at + HOUR).unwrap(), []);
    assert_eq!(code(ask(&mut series, &open(MIDNIGHT), at)), Code::SlotPast);
    assert_eq!(code(ask(&mut series, &open(at + HOUR), at + 2 * HOUR)), Code::SlotPast);
    assert_eq!(code(ask(&mut series, &open(at + 1), at)), Code::Invalid);
    assert_eq!(code(ask(&mut series, &open(MIDNIGHT - HOUR), MIDNIGHT)), Code::SlotPast);
}

#[test]
fn at_exactly_the_hour_the_new_sale_is_the_active_one() {
    let mut series = series(Schedule::Hourly);
    let (one, two) = (MIDNIGHT + HOUR, MIDNIGHT + 2 * HOUR);
    ask(&mut series, &open(one), one - 1).unwrap();
    assert_eq!(series.active_at(one - 1), None);
    assert_eq!(series.active_at(one), Some(sale_of(SERIES, one)));
    ask(&mut series, &open(two), two - 60_000).unwrap();
    assert_eq!(series.active_at(two - 1), Some(sale_of(SERIES, one)));
    assert_eq!(series.active_at(two), Some(sale_of(SERIES, two)));
    assert_eq!(series.active_at(two + HOUR), None);
    assert_eq!(series.sales_to_make(two).len(), 1, "the first is over");
    assert_eq!(series.sales_to_make(two - 1).len(), 2);
}

#[test]
fn the_sale_of_a_slot_is_the_same_whoever_makes_it_and_starts_by_itself() {
    let mut series = series(Schedule::Hourly);
    let at = MIDNIGHT + HOUR;
    ask(&mut series, &open(at), at - 60_000).unwrap();
    let mut template = series.details().template.clone();
    template.items[0].price_minor = 1;
    let change = ChangeSeries { template: Some(template), ..ChangeSeries::default() };
    ask(&mut series, &SeriesCommand::Change(Box::new(change)), at - 50_000).unwrap();
    let made = series.sales_to_make(at);
    let [(sale, create)] = &made[..] else { panic!("{made:?}") };
    assert_eq!(
        (sale.kind, create.details.starts_at, create.details.ends_at),
        (ListingKind::Sale, at, at + HOUR)
    );
    assert_eq!(create.skus[0].price_minor, 900, "a change is for slots to come");
    assert_eq!(create.skus[0].name, items::name(sale.number, 0));
    assert_eq!(create.skus[1].name, "The last mug", "only what has no name gets one");
    assert_eq!(create.details.origin.map(|origin| (origin.series, origin.slot)), Some((SERIES, at)));
    assert_eq!(Sale::create(create, at - 60_000).unwrap().len(), 1, "it waits for its hour");
    assert_eq!(Sale::create(create, at).unwrap().len(), 2, "made late, it is open at once");
}

#[test]
fn no_two_slots_share_a_sale() {
    let mut all = std::collections::BTreeSet::new();
    for series in 0..20 {
        let series = ListingId { number: series, ..SERIES };
        for hour in 0..2_000 {
            assert!(all.insert(sale_of(series, MIDNIGHT + hour * HOUR)));
        }
    }
    assert_eq!(
        sale_of(SERIES, MIDNIGHT).to_string(),
        "sal_00004vnnyw53bxs6",
        "the function may never change: old slots would get new sales"
    );
}

#[test]
fn a_server_that_was_down_opens_the_current_slot_and_records_the_others() {
    let mut series = series(Schedule::Hourly);
    let at = |hours: Millis| MIDNIGHT + hours * HOUR;
    let (facts, next) = serve(&mut series, &Utc, at(0));
    assert_eq!((opened(&facts), skipped(&facts), next), (vec![at(0)], vec![], Some(at(1) - 60_000)));
    let (facts, next) = serve(&mut series, &Utc, at(1) - 60_000);
    assert_eq!((opened(&facts), next), (vec![at(1)], Some(at(2) - 60_000)));
    // Down until half past four.
    let (facts, next) = serve(&mut series, &Utc, at(4) + HOUR / 2);
    assert_eq!(opened(&facts), [at(4)]);
    assert_eq!(skipped(&facts), [(at(2), SkipCause::Down), (at(3), SkipCause::Down)]);
    assert_eq!(next, Some(at(5) - 60_000));
    // Down until half a minute before seven: six is still on, seven is made ready.
    let (facts, _) = serve(&mut series, &Utc, at(7) - 30_000);
    assert_eq!((opened(&facts), skipped(&facts)), (vec![at(6), at(7)], vec![(at(5), SkipCause::Down)]));
    // Down for ten days.
    let (facts, _) = serve(&mut series, &Utc, at(247));
    assert_eq!((opened(&facts), skipped(&facts).len()), (vec![at(247)], 239));
    assert_eq!(series.slots().count(), 100);
}

#[test]
fn sales_shorter_than_the_gap_leave_nothing_to_open_in_between() {
    let mut details = details(Schedule::Hourly);
    details.template.length_ms = HOUR / 4;
    let facts = Series::create(&details).unwrap();
    let mut series = Series::begin(SERIES, &facts[0]).unwrap();
    let (facts, next) = serve(&mut series, &Utc, MIDNIGHT + HOUR / 2);
    assert_eq!((opened(&facts), skipped(&facts).len(), next), (vec![], 1, Some(MIDNIGHT + HOUR - 60_000)));
    assert_eq!(series.active_at(MIDNIGHT + HOUR / 2), None);
}

#[test]
fn a_pause_skips_what_falls_into_it() {
    let mut series = series(Schedule::Hourly);
    let at = |hours: Millis| MIDNIGHT + hours * HOUR;
    serve(&mut series, &Utc, at(0));
    ask(&mut series, &SeriesCommand::Pause, at(0) + 1).unwrap();
    assert_eq!(ask(&mut series, &SeriesCommand::Pause, at(0) + 2).unwrap(), []);
    assert_eq!(series.plan(at(1), &Utc), Plan::Rest);
    assert_eq!(code(ask(&mut series, &open(at(1)), at(1))), Code::SeriesPaused);
    assert_eq!(ask(&mut series, &open(at(0)), at(1)).unwrap(), [], "it was opened before");
    assert_eq!(series.active_at(at(0) + 5), Some(sale_of(SERIES, at(0))), "what is open stays open");
    ask(&mut series, &SeriesCommand::Resume, at(2) + 1).unwrap();
    let (facts, _) = serve(&mut series, &Utc, at(4));
    assert_eq!(
        skipped(&facts),
        [(at(1), SkipCause::Paused), (at(2), SkipCause::Paused), (at(3), SkipCause::Down)]
    );
    assert_eq!(opened(&facts), [at(4)]);
    ask(&mut series, &SeriesCommand::End, at(4)).unwrap();
    assert_eq!(series.status(), SeriesStatus::Ended);
    assert_eq!(ask(&mut series, &SeriesCommand::End, at(4)).unwrap(), []);
    assert_eq!(code(ask(&mut series, &open(at(5)), at(5))), Code::SeriesEnded);
    assert_eq!(code(ask(&mut series, &SeriesCommand::Resume, at(5))), Code::SeriesEnded);
    assert_eq!(code(ask(&mut series, &SeriesCommand::SkipSlots(vec![utc(at(5))]), at(5))), Code::SeriesEnded);
    let change =
        SeriesCommand::Change(Box::new(ChangeSeries { name: Some("x".into()), ..ChangeSeries::default() }));
    assert_eq!(code(ask(&mut series, &change, at(5))), Code::SeriesEnded);
}

#[test]
fn only_what_is_over_can_be_skipped_and_only_in_order() {
    let mut series = series(Schedule::Hourly);
    let at = |hours: Millis| utc(MIDNIGHT + hours * HOUR);
    let skip = |slots: &[Slot]| SeriesCommand::SkipSlots(slots.to_vec());
    assert_eq!(code(ask(&mut series, &skip(&[]), at(9).at)), Code::Invalid);
    assert_eq!(code(ask(&mut series, &skip(&[at(2), at(1)]), at(9).at)), Code::Invalid);
    assert_eq!(code(ask(&mut series, &skip(&[at(9)]), at(9).at - 1)), Code::SlotEarly);
    assert_eq!(ask(&mut series, &skip(&[at(1), at(2)]), at(9).at).unwrap().len(), 2);
    assert_eq!(code(ask(&mut series, &skip(&[at(2), at(3)]), at(9).at)), Code::SlotPast);
    let many: Vec<Slot> = (3..68).map(at).collect();
    assert_eq!(code(ask(&mut series, &skip(&many), at(99).at)), Code::Invalid);
    let wrong = SeriesCommand::OpenSlot(OpenSlot { slot: at(5), skipped: vec![at(6)] });
    assert_eq!(code(ask(&mut series, &wrong, at(5).at)), Code::Invalid);
    assert_eq!(
        code(ask(&mut series, &SeriesCommand::Create(Box::new(details(Schedule::Hourly))), 0)),
        Code::ListingExists
    );
}

/// Clocks one hour ahead of UTC, two in summer, which begins and ends at instants of this test.
struct Summer {
    begins: Millis,
    ends: Millis,
}

impl Zone for Summer {
    fn offset_s(&self, at: Millis) -> i32 {
        if (self.begins..self.ends).contains(&at) { 7_200 } else { 3_600 }
    }

    fn at(&self, local: Millis) -> Option<Slot> {
        // Summer's reading comes first where there are two.
        let mut readings =
            [7_200, 3_600].map(|offset_s| Slot { at: local - i64::from(offset_s) * 1_000, offset_s });
        readings.sort_by_key(|slot| slot.at);
        readings.into_iter().find(|slot| self.offset_s(slot.at) == slot.offset_s)
    }
}

#[test]
fn a_missing_local_time_is_skipped_and_a_repeated_one_runs_once() {
    // 2026-03-29: at 01:00Z clocks go from 02:00 to 03:00; 2026-10-25: at 01:00Z back from 03:00 to 02:00.
    let zone = Summer { begins: 1_774_746_000_000, ends: 1_792_890_000_000 };
    let schedule = Schedule::Cron { line: "30 1,2,3 * * *".into(), zone: "Europe/Berlin".into() };
    for (from, expected) in [
        // 01:30 +1, (02:30 does not exist), 03:30 +2.
        (zone.begins - 2 * HOUR, [-HOUR / 2, HOUR / 2]),
        // 02:30 +2 (first of two), then 03:30 +1: the second 02:30 is no slot.
        (zone.ends - HOUR, [-HOUR / 2, HOUR + HOUR / 2]),
    ] {
        let change = if from < 1_780_000_000_000 { zone.begins } else { zone.ends };
        let mut details = details(schedule.clone());
        details.from = from;
        details.template.length_ms = 60_000;
        let facts = Series::create(&details).unwrap();
        let mut series = Series::begin(SERIES, &facts[0]).unwrap();
        let mut all = Vec::new();
        let mut now = from;
        while all.len() < 2 {
            let (facts, next) = serve(&mut series, &zone, now);
            all.extend(opened(&facts));
            now = next.expect("there is always a next one");
        }
        assert_eq!(all, expected.map(|after| change + after));
    }
}

#[test]
fn the_second_reading_of_a_local_time_is_refused_even_if_a_server_asks() {
    let zone = Summer { begins: 0, ends: MIDNIGHT + HOUR };
    let schedule = Schedule::Cron { line: "30 * * * *".into(), zone: "Europe/Berlin".into() };
    let mut series = series(schedule);
    let ask_for = |slot| SeriesCommand::OpenSlot(OpenSlot { slot, skipped: Vec::new() });
    let first = Slot { at: MIDNIGHT + HOUR / 2, offset_s: 7_200 };
    let second = Slot { at: first.at + HOUR, offset_s: 3_600 };
    assert_eq!(first.local(), second.local());
    assert_eq!(zone.at(first.local()), Some(first));
    ask(&mut series, &ask_for(first), first.at).unwrap();
    assert_eq!(code(ask(&mut series, &ask_for(second), second.at)), Code::SlotPast);
    let third = Slot { at: second.at + HOUR, offset_s: 3_600 };
    assert_eq!(opened(&ask(&mut series, &ask_for(third), third.at).unwrap()), [third.at]);
    let elsewhere = Slot { at: third.at + HOUR, offset_s: 27 * 3_600 };
    assert_eq!(code(ask(&mut series, &ask_for(elsewhere), elsewhere.at)), Code::Invalid);
}

#[test]
fn a_series_is_created_only_from_what_makes_sense() {
    type Spoil = fn(&mut SeriesDetails);
    let cases: [(&str, Spoil); 10] = [
        ("name", |details| details.name.clear()),
        ("from", |details| details.from = -1),
        ("schedule.line", |details| {
            details.schedule = Schedule::Cron { line: "61 * * * *".into(), zone: "UTC".into() };
        }),
        ("schedule.zone", |details| {
            details.schedule = Schedule::Cron { line: "0 * * * *".into(), zone: String::new() };
        }),
        ("template.length_ms", |details| details.template.length_ms = 59_999),
        ("template.items", |details| details.template.items.clear()),
        ("template.items[1].price_minor", |details| details.template.items[1].price_minor = -1),
        ("template.items[1].name", |details| details.template.items[1].name = Some("\n".into())),
        ("template.items[0].stock", |details| details.template.items[0].stock = 10_000_001),
        ("rules.buyer_limit", |details| details.template.rules.buyer_limit = 0),
    ];
    for (field, spoil) in cases {
        let mut details = details(Schedule::Hourly);
        spoil(&mut details);
        let refusal = Series::create(&details).expect_err(field);
        assert!(
            matches!(&refusal.detail, Detail::Field { field: named, .. } if named.to_string() == field),
            "{field}: {refusal:?}"
        );
    }
}
