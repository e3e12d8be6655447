//! The desk: slips are taken once, events are counted once, money that moved wins, and a week later it is forgotten.

use onsale_domain::desk::command::{NoteAnswer, TakeWork};
use onsale_domain::desk::{
    DeskCommand, DeskFact, DeskFound, DeskQuery, PaymentStanding, Slip, Task, Webhook, desk_of,
};
use onsale_domain::money::Currency;
use onsale_domain::{
    Code, Command, Fact, Listing, ListingId, ListingKind, Millis, OrderId, Outcome, PaymentId, PaymentName,
    Tenant,
};
use onsale_domain::{Found, Query};

const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 5 };
const DAY: Millis = 86_400_000;

/// A desk with its log; copies from its facts and its image are always the same.
struct Logged {
    listing: Listing,
    log: Vec<(Millis, Fact)>,
}

impl Logged {
    fn new() -> Logged {
        let mut desk = Logged { listing: Listing::new(desk_of(Tenant::DEFAULT), 1), log: Vec::new() };
        assert_eq!(desk.say(DeskCommand::Open, 0), "desk_opened");
        desk
    }

    fn say(&mut self, command: DeskCommand, now: Millis) -> &'static str {
        let mut facts = Vec::new();
        let outcome = self.listing.execute(&Command::Desk(command), now, &mut facts);
        self.listing.check_invariants().expect("adds up");
        self.log.extend(facts.iter().map(|fact| (now, fact.clone())));
        let mut replayed = Listing::new(self.listing.id, 1);
        self.log.iter().for_each(|(at, fact)| replayed.apply(fact, *at));
        let reread = Listing::from_image(&self.listing.image()).expect("an image is read");
        for copy in [replayed, reread] {
            assert_eq!(copy.canonical_image(), self.listing.canonical_image());
        }
        match (&facts[..], outcome) {
            ([fact], Outcome::Done) => fact.kind(),
            ([], Outcome::Unchanged) => "unchanged",
            ([], Outcome::Refused(refusal)) => refusal.code.as_str(),
            other => panic!("{other:?}"),
        }
    }

    fn tasks(&self, payment: u64) -> Vec<Task> {
        let query = Query::Desk(DeskQuery::Payment(name(payment)));
        if let Found::Desk(DeskFound::Payment { tasks, .. }) = self.listing.ask(&query, 0) {
            return tasks;
        }
        Vec::new()
    }

    fn standing(&self, payment: u64) -> &'static str {
        self.tasks(payment).first().map_or("unknown", |task| task.standing.as_str())
    }

    fn open(&self) -> Vec<(u64, u16)> {
        let query = Query::Desk(DeskQuery::Open { after: None, limit: 100 });
        let Found::Desk(DeskFound::Open(tasks)) = self.listing.ask(&query, 0) else { panic!("a desk") };
        tasks.iter().map(|task| (task.slip.payment.0, task.slip.refund)).collect()
    }
}

fn name(payment: u64) -> PaymentName {
    PaymentName { listing: EVENT, payment: PaymentId(payment) }
}

fn slip(payment: u64, refund: u16) -> Slip {
    Slip {
        order: OrderId(1),
        payment: PaymentId(payment),
        refund,
        amount_minor: 1_000,
        currency: Currency::parse("EUR").expect("three letters"),
        until: None,
        of_reference: None,
        method: None,
    }
}

fn take(through: u64, slips: Vec<Slip>) -> DeskCommand {
    DeskCommand::TakeWork(TakeWork { listing: EVENT, through, slips })
}

fn answer(payment: u64, refund: u16, standing: PaymentStanding) -> DeskCommand {
    of_try(payment, refund, 0, standing)
}

fn of_try(payment: u64, refund: u16, failures: u16, standing: PaymentStanding) -> DeskCommand {
    let (payment, reference) = (name(payment), Some("pi".into()));
    DeskCommand::NoteAnswer(NoteAnswer { payment, refund, failures, reference, standing })
}

fn event(id: &str, payment: Option<u64>, standing: PaymentStanding) -> DeskCommand {
    DeskCommand::ReceiveWebhook(Box::new(Webhook {
        provider: "simulated".into(),
        event: id.into(),
        kind: "payment".into(),
        payment: payment.map(name),
        refund: 0,
        reference: None,
        standing: Some(standing),
        failures: None,
    }))
}

fn event_of_try(id: &str, refund: u16, failures: Option<u16>, standing: PaymentStanding) -> DeskCommand {
    let DeskCommand::ReceiveWebhook(webhook) = event(id, Some(1), standing) else { unreachable!("an event") };
    DeskCommand::ReceiveWebhook(Box::new(Webhook { refund, failures, ..*webhook }))
}

fn done() -> PaymentStanding {
    PaymentStanding::Done { amount_minor: 1_000 }
}

fn failed() -> PaymentStanding {
    PaymentStanding::Failed { reason: "no funds".into() }
}

fn delivered(payment: u64, refund: u16, heard: &PaymentStanding) -> DeskCommand {
    DeskCommand::NoteDelivered { payment: name(payment), refund, rank: heard.rank() }
}

#[test]
fn a_slip_is_taken_once_and_the_cursor_only_grows() {
    let mut desk = Logged::new();
    assert_eq!(desk.say(take(7, vec![slip(1, 0), slip(2, 0)]), 1), "work_taken");
    assert_eq!(desk.say(take(7, vec![slip(1, 0)]), 2), "unchanged");
    assert_eq!(desk.say(take(6, vec![slip(3, 0)]), 2), "unchanged");
    assert_eq!(desk.say(take(8, vec![slip(2, 0), slip(3, 0)]), 3), "work_taken");
    assert_eq!(desk.open(), [(1, 0), (2, 0), (3, 0)]);
    let query = Query::Desk(DeskQuery::Cursor(EVENT));
    assert_eq!(desk.listing.ask(&query, 0), Found::Desk(DeskFound::Cursor(8)));
    assert_eq!(desk.say(take(9, vec![slip(1, 0); 65]), 3), Code::Invalid.as_str());
    assert_eq!(desk.say(DeskCommand::Open, 3), Code::ListingExists.as_str());
}

#[test]
fn money_that_moved_wins_however_late_or_often_it_is_told() {
    let mut desk = Logged::new();
    desk.say(take(7, vec![slip(1, 0)]), 1);
    assert_eq!(desk.say(delivered(1, 0, &done()), 1), "unchanged", "there is nothing to tell yet");
    assert_eq!(desk.say(event("a", Some(1), failed()), 2), "webhook_received");
    assert_eq!(desk.standing(1), "failed");
    assert_eq!(desk.say(delivered(1, 0, &failed()), 3), "work_delivered");
    assert_eq!(desk.open(), []);
    assert_eq!(desk.say(answer(1, 0, PaymentStanding::Waiting), 4), "unchanged", "the answer came last");
    assert_eq!(desk.say(answer(1, 0, done()), 5), "work_answered");
    assert_eq!(desk.open(), [(1, 0)], "its listing must hear of it");
    assert_eq!(desk.say(event("b", Some(1), failed()), 6), "webhook_received", "stored, and of no effect");
    assert_eq!(desk.standing(1), "done");
    assert_eq!(desk.say(delivered(1, 0, &failed()), 7), "unchanged", "what was heard is not the latest");
    assert_eq!(desk.say(delivered(1, 0, &done()), 7), "work_delivered");
    assert_eq!(desk.say(delivered(1, 0, &done()), 7), "unchanged");
    let query = Query::Desk(DeskQuery::Payment(name(1)));
    let Found::Desk(DeskFound::Payment { events, .. }) = desk.listing.ask(&query, 0) else { panic!("known") };
    assert_eq!(events.iter().map(|event| event.counted).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn an_event_counts_once_for_a_week_and_may_be_about_nothing_of_ours() {
    let mut desk = Logged::new();
    desk.say(take(7, vec![slip(1, 0)]), 0);
    assert_eq!(desk.say(event("a", Some(1), done()), 1), "webhook_received");
    assert_eq!(desk.say(event("a", Some(1), failed()), 2), "unchanged");
    assert_eq!(desk.say(event("b", Some(9), done()), 3), "webhook_received", "an unknown payment");
    assert_eq!(desk.say(event("c", None, done()), 3), "webhook_received");
    assert_eq!(desk.say(event("", None, done()), 3), Code::Invalid.as_str());
    desk.say(delivered(1, 0, &done()), 4);
    assert_eq!(desk.say(event("a", Some(1), done()), 7 * DAY), "unchanged");
    assert_eq!(desk.standing(1), "done");
    assert_eq!(desk.say(event("d", None, done()), 7 * DAY + 4), "webhook_received");
    assert_eq!(desk.standing(1), "unknown", "a week after its last change");
    assert_eq!(desk.say(event("a", Some(1), done()), 7 * DAY + 5), "webhook_received");
    assert_eq!(desk.say(answer(1, 0, done()), 7 * DAY + 5), Code::PaymentUnknown.as_str());
}

#[test]
fn what_a_fact_is_about_is_not_forgotten_by_its_time() {
    let mut desk = Logged::new();
    desk.say(take(7, vec![slip(1, 0)]), 0);
    assert_eq!(desk.say(event("a", Some(1), failed()), 1), "webhook_received");
    assert_eq!(desk.say(delivered(1, 0, &failed()), 2), "work_delivered");
    assert_eq!(desk.say(answer(1, 0, done()), 7 * DAY + 2), "work_answered", "a week later to the instant");
    assert_eq!((desk.standing(1), desk.open()), ("done", vec![(1, 0)]), "its listing must hear of it");
}

#[test]
fn a_refund_that_fails_is_asked_for_again_until_it_is_paid() {
    let mut desk = Logged::new();
    desk.say(take(7, vec![slip(1, 1)]), 0);
    for failures in 1..4 {
        assert_eq!(desk.say(of_try(1, 1, failures - 1, failed()), 1), "work_answered");
        let task = &desk.tasks(1)[0];
        assert_eq!((task.standing.as_str(), task.failures, task.to_deliver), ("asked", failures, false));
    }
    assert_eq!(desk.say(of_try(1, 1, 3, done()), 2), "work_answered");
    assert_eq!(desk.say(of_try(1, 1, 3, failed()), 2), "unchanged");
    assert_eq!(desk.say(delivered(1, 1, &done()), 3), "work_delivered");
    let kinds = desk.log.iter().filter(|(_, fact)| matches!(fact, Fact::Desk(DeskFact::Answered { .. })));
    assert_eq!(kinds.count(), 4);
}

#[test]
fn a_failure_counts_for_the_try_that_failed_and_money_for_whichever_moved_it() {
    // What is told, and then: what the desk wrote, how often the refund has failed, how it stands.
    let waiting = || PaymentStanding::Waiting;
    let table = [
        (of_try(1, 1, 1, failed()), "unchanged", 0, "asked", "no such try was asked for yet"),
        (of_try(1, 1, 0, failed()), "work_answered", 1, "asked", "the first try failed"),
        (of_try(1, 1, 0, failed()), "unchanged", 1, "asked", "told again"),
        (event_of_try("a", 1, Some(0), failed()), "webhook_received", 1, "asked", "and by an event"),
        (of_try(1, 1, 0, waiting()), "unchanged", 1, "asked", "the first try is over"),
        (of_try(1, 1, 1, waiting()), "work_answered", 1, "waiting", "the second is under way"),
        (of_try(1, 1, 0, failed()), "unchanged", 1, "waiting", "late news of the first"),
        (
            event_of_try("b", 1, Some(1), failed()),
            "webhook_received",
            2,
            "asked",
            "the second failed, says an event",
        ),
        (event_of_try("c", 1, Some(1), failed()), "webhook_received", 2, "asked", "and another event"),
        (of_try(1, 1, 1, failed()), "unchanged", 2, "asked", "and the answer"),
        (
            event_of_try("d", 1, None, failed()),
            "webhook_received",
            3,
            "asked",
            "an event that does not say which",
        ),
        (of_try(1, 1, 1, done()), "work_answered", 3, "done", "the second went through after all"),
        (of_try(1, 1, 3, failed()), "unchanged", 3, "done", "money that moved wins"),
    ];
    let mut desk = Logged::new();
    desk.say(take(7, vec![slip(1, 1)]), 0);
    for (command, wrote, failures, standing, why) in table {
        assert_eq!(desk.say(command, 1), wrote, "{why}");
        let task = &desk.tasks(1)[0];
        assert_eq!((task.failures, task.standing.as_str()), (failures, standing), "{why}");
    }
}

#[test]
fn an_event_is_written_with_the_try_it_tells_of() {
    for failures in [None, Some(0), Some(7)] {
        let DeskCommand::ReceiveWebhook(webhook) = event_of_try("a", 1, failures, failed()) else {
            unreachable!("an event")
        };
        let fact = Fact::Desk(DeskFact::WebhookReceived(webhook));
        let bytes = minicbor::to_vec(&fact).expect("memory takes it");
        assert_eq!(minicbor::decode::<Fact>(&bytes).expect("reads"), fact);
    }
}
