//! The machine alone, with replies made by hand: what it asks for next, and what it no longer asks for.

use onsale_domain::desk::{DeskFound, DeskQuery, PaymentStanding, Slip, Task};
use onsale_domain::money::Currency;
use onsale_domain::order::{OrdersFound, OrdersQuery, Work};
use onsale_domain::{Found, OrderId, Outcome, PaymentId, Tenant};

use super::*;
use crate::provider::ProviderAnswer;

const NOW: Millis = 1_700_000_000_000;

fn machine() -> Machine {
    Machine::new(Patience::default())
}

fn sale(number: u64) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number }
}

fn task(payment: u64, standing: PaymentStanding) -> Task {
    let slip = Slip {
        order: OrderId(payment),
        payment: PaymentId(payment),
        refund: 0,
        amount_minor: 100,
        currency: Currency::parse("EUR").expect("three letters"),
        until: None,
        of_reference: None,
        method: None,
    };
    let to_deliver = matches!(standing, PaymentStanding::Done { .. } | PaymentStanding::Failed { .. });
    Task {
        listing: sale(1),
        slip,
        place: payment,
        standing,
        reference: None,
        to_deliver,
        failures: 0,
        failed: None,
        taken_at: NOW,
        changed_at: NOW,
    }
}

/// A desk with these tasks, and listings that owe nothing; the calls that the provider or a listing would get.
fn run(machine: &mut Machine, tasks: &[Task], listings: &[ListingId], now: Millis) -> Vec<(CallId, Call)> {
    let mut left = Vec::new();
    loop {
        let calls = machine.take_calls();
        if calls.is_empty() {
            return left;
        }
        for (id, call) in calls {
            let reply = match &call {
                Call::Listings { kind, .. } => {
                    Reply::Listings(listings.iter().filter(|one| one.kind == *kind).copied().collect())
                }
                Call::AskDesk(DeskQuery::Cursor(_)) => Reply::Found(Ok(Found::Desk(DeskFound::Cursor(0)))),
                Call::AskDesk(DeskQuery::Open { after, limit }) => {
                    let place = after.map_or(0, |(place, ..)| place);
                    let page = tasks.iter().filter(|task| task.place > place).take(*limit).cloned();
                    Reply::Found(Ok(Found::Desk(DeskFound::Open(page.collect()))))
                }
                Call::AskDesk(DeskQuery::Payment(_))
                | Call::AskListing(..)
                | Call::Desk(_)
                | Call::Tell(..)
                | Call::Charge(_)
                | Call::Refund(_)
                | Call::LookUp(_)
                | Call::CallOff(_) => {
                    left.push((id, call));
                    continue;
                }
            };
            machine.take_reply(id, reply, now);
        }
    }
}

fn owes(work: Vec<Work>) -> Reply {
    Reply::Found(Ok(Found::Orders(OrdersFound::Work(work))))
}

fn no_answer() -> Reply {
    Reply::Said(Err("no answer".to_owned()))
}

#[test]
fn every_listing_is_looked_at_once_and_from_then_on_those_that_moved() {
    let mut machine = machine();
    let looked_at = |machine: &mut Machine| {
        machine.begin_round(NOW);
        let calls = run(machine, &[], &[sale(1), sale(2)], NOW);
        let listings: Vec<ListingId> = calls
            .iter()
            .map(|(_, call)| {
                let Call::AskListing(listing, OrdersQuery::WorkAfter { .. }) = call else {
                    panic!("{call:?}")
                };
                *listing
            })
            .collect();
        for (id, _) in calls {
            machine.take_reply(id, owes(Vec::new()), NOW);
        }
        assert!(run(machine, &[], &[sale(1), sale(2)], NOW).is_empty());
        assert_eq!(machine.take_ended(), Some(Ok(())));
        listings
    };
    assert_eq!(looked_at(&mut machine), [sale(1), sale(2)]);
    assert!(looked_at(&mut machine).is_empty());
    machine.listing_moved(sale(2));
    assert_eq!(looked_at(&mut machine), [sale(2)]);
    machine.lose_lease();
    assert_eq!(looked_at(&mut machine), [sale(1), sale(2)], "another server may have left something");
}

#[test]
fn a_listing_that_cannot_be_read_keeps_no_other_from_being_paid() {
    let mut machine = machine();
    machine.begin_round(NOW);
    let asked = run(&mut machine, &[], &[sale(1)], NOW);
    let [(id, Call::AskListing(..))] = asked[..] else { panic!("{asked:?}") };
    let error = EngineError::Damaged("a foreign key".to_owned());
    machine.take_reply(id, Reply::Found(Err(error.clone())), NOW);
    let calls = run(&mut machine, &[task(7, PaymentStanding::Asked)], &[], NOW);
    assert!(matches!(calls[..], [(_, Call::Charge(_))]), "{calls:?}");
    assert_eq!(machine.take_ended(), Some(Err(error)), "and it is told");
    machine.begin_round(NOW);
    let again = run(&mut machine, &[], &[], NOW);
    assert!(matches!(again[..], [(_, Call::AskListing(..))]), "it is read again: {again:?}");
}

#[test]
fn trouble_that_a_moment_mends_ends_the_round_and_forgets_no_listing() {
    let mut machine = machine();
    machine.begin_round(NOW);
    for (id, _) in run(&mut machine, &[], &[sale(1), sale(2)], NOW) {
        machine.take_reply(id, Reply::Found(Err(EngineError::Busy)), NOW);
    }
    assert!(run(&mut machine, &[task(7, PaymentStanding::Asked)], &[], NOW).is_empty());
    assert_eq!(machine.take_ended(), Some(Err(EngineError::Busy)));
    assert!(!machine.wants_round(), "not at once");
    machine.begin_round(NOW);
    assert_eq!(run(&mut machine, &[], &[], NOW).len(), 2);
}

#[test]
fn what_is_not_answered_is_asked_again_after_a_pause_that_doubles() {
    let mut machine = machine();
    let tasks = [task(7, PaymentStanding::Asked)];
    let mut asked_at = Vec::new();
    for now in (NOW..NOW + 8_000).step_by(500) {
        machine.begin_round(now);
        for (id, _) in run(&mut machine, &tasks, &[], now) {
            asked_at.push(now - NOW);
            machine.take_reply(id, no_answer(), now);
        }
    }
    assert_eq!(asked_at, [0, 1_000, 3_000, 7_000]);
}

#[test]
fn a_page_read_before_a_conversation_ended_does_not_begin_it_again() {
    let mut machine = machine();
    let tasks = [task(7, PaymentStanding::Asked)];
    machine.begin_round(NOW);
    let calls = run(&mut machine, &tasks, &[], NOW);
    let [(charge, Call::Charge(_))] = calls[..] else { panic!("{calls:?}") };
    // The next round's page is asked for, and is replied to only after the charge was answered and noted.
    machine.begin_round(NOW);
    let page = machine.take_calls();
    let [(page, Call::AskDesk(DeskQuery::Open { .. }))] = page[..] else { panic!("{page:?}") };
    let standing = PaymentStanding::Done { amount_minor: 100 };
    machine.take_reply(charge, Reply::Said(Ok(Some(ProviderAnswer { reference: None, standing }))), NOW);
    let note = machine.take_calls();
    let [(note, Call::Desk(DeskCommand::NoteAnswer(_)))] = note[..] else { panic!("{note:?}") };
    machine.take_reply(note, Reply::Decided(Ok(Outcome::Done)), NOW);
    machine.take_reply(page, Reply::Found(Ok(Found::Desk(DeskFound::Open(tasks.to_vec())))), NOW);
    assert!(machine.take_calls().is_empty());
    assert!(machine.wants_round(), "what was said is seen to next");
}

#[test]
fn a_round_without_a_place_waits_one_tick_and_tells_listings_all_the_same() {
    let mut machine = machine();
    let silent = u64::try_from(TALKS_MAX).expect("a small number");
    let mut tasks: Vec<Task> = (1..=2 * silent).map(|n| task(n, PaymentStanding::Asked)).collect();
    tasks.push(task(2 * silent + 1, PaymentStanding::Done { amount_minor: 100 }));
    machine.begin_round(NOW);
    assert_eq!(run(&mut machine, &tasks, &[], NOW).len(), TALKS_MAX);
    assert!(machine.is_in_round());
    machine.tick(NOW);
    let told = run(&mut machine, &tasks, &[], NOW);
    assert!(matches!(told[..], [(_, Call::Tell(..))]), "{told:?}");
}

#[test]
fn a_reply_to_what_was_let_go_is_nothing() {
    let mut machine = machine();
    machine.begin_round(NOW);
    let calls = run(&mut machine, &[task(7, PaymentStanding::Asked)], &[], NOW);
    machine.let_go();
    machine.take_reply(calls[0].0, no_answer(), NOW);
    assert!(machine.take_calls().is_empty());
    machine.begin_round(NOW);
    assert_eq!(
        run(&mut machine, &[task(7, PaymentStanding::Asked)], &[], NOW).len(),
        1,
        "it is asked for again, at once"
    );
}
