//! What the provider asks of Stripe, how often, and what it makes of the answers.

use std::future::Future;

use onsale::config::{Secret, StripeKeys};
use onsale_domain::desk::PaymentStanding;
use onsale_domain::money::Currency;
use onsale_payments::provider::{Charge, GiveBack, LookUp, Provider};
use onsale_payments::stripe::{Stripe, VERSION};
use onsale_payments::{ProviderAnswer, ProviderError};
use serde_json::{Value, json};

use super::localstripe::Localstripe;
use super::scripted::{Scripted, ScriptedAnswer};
use super::{SECRET_KEY, WEBHOOK_SECRET};

const KEY: &str = "pay_0000k7qm20vd4z9xe3f8w1c6h5tn03";
const NOW: i64 = 1_700_000_000_000;

fn at(base_url: &str) -> Stripe {
    Stripe::new(StripeKeys {
        secret_key: Secret::new(SECRET_KEY),
        webhook_secret: Secret::new(WEBHOOK_SECRET),
        base_url: base_url.to_owned(),
        return_url: None,
    })
    .expect("a client")
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(future)
}

fn eur() -> Currency {
    Currency::parse("EUR").expect("three letters")
}

fn charge(method: Option<&str>) -> Charge {
    let (key, order) = (KEY.to_owned(), "ord_0000k7qm20vd4z9xe3f8w1c6h5tn02".to_owned());
    Charge { key, amount_minor: 4_500, currency: eur(), method: method.map(str::to_owned), order, now: NOW }
}

fn give_back(intent: &str, refund: &str, failures: u16) -> GiveBack {
    GiveBack {
        key: format!("{KEY}-{refund}"),
        payment_key: KEY.to_owned(),
        reference: Some(intent.to_owned()),
        amount_minor: 1_500,
        currency: eur(),
        failures,
        asked_at: NOW,
        now: NOW,
    }
}

fn what_of(reference: Option<&str>) -> LookUp {
    let reference = reference.map(str::to_owned);
    LookUp { key: KEY.to_owned(), reference, is_refund: false, asked_at: NOW, now: NOW }
}

fn intent(id: &str, status: &str, key: &str) -> Value {
    json!({"id": id, "object": "payment_intent", "status": status, "amount": 4500, "amount_received": 4500,
           "currency": "eur", "created": NOW / 1_000, "metadata": {"payment": key}})
}

fn done(reference: &str, amount_minor: i64) -> ProviderAnswer {
    ProviderAnswer { reference: Some(reference.to_owned()), standing: PaymentStanding::Done { amount_minor } }
}

fn paid() -> ScriptedAnswer {
    ScriptedAnswer::Says(200, intent("pi_1", "succeeded", KEY))
}

#[test]
fn every_ask_has_our_key_and_the_pinned_version_and_is_the_same_ask_when_sent_again() {
    let busy = json!({"error": {"type": "api_error", "message": "busy"}});
    let turns = vec![
        ScriptedAnswer::Says(500, busy.clone()),
        ScriptedAnswer::Hangs,
        ScriptedAnswer::Says(429, busy),
        paid(),
    ];
    let fake = Scripted::play(turns);
    let said = run(at(&fake.base_url).charge(charge(Some("pm_1"))));
    assert_eq!(said, Ok(done("pi_1", 4_500)));
    let asked = fake.asked();
    assert_eq!(asked.len(), 4);
    for one in &asked {
        assert_eq!(one.line, "POST /v1/payment_intents");
        assert_eq!(one.header("idempotency-key"), Some(KEY));
        assert_eq!(one.header("stripe-version"), Some(VERSION));
        assert_eq!(one.header("authorization"), Some("Bearer sk_test_of_the_house"));
        assert_eq!(one.body, asked[0].body);
        assert!(
            one.body.contains("amount=4500&currency=eur") && one.body.contains("confirm=true"),
            "{one:?}"
        );
    }
}

#[test]
fn what_may_end_better_is_tried_a_few_times_and_nothing_else() {
    let error = |kind: &str| json!({"error": {"type": kind, "message": "no"}});
    let table = [
        ("busy for ever", vec![ScriptedAnswer::Says(503, error("api_error")); 5], 4),
        ("another holds the key", vec![ScriptedAnswer::Says(409, error("api_error")), paid()], 2),
        (
            "it says not to",
            vec![ScriptedAnswer::With(500, "stripe-should-retry: false", error("api_error"))],
            1,
        ),
        (
            "it says to",
            vec![ScriptedAnswer::With(400, "stripe-should-retry: true", error("api_error")), paid()],
            2,
        ),
        ("it wants a long pause", vec![ScriptedAnswer::With(429, "retry-after: 60", error("api_error"))], 1),
        ("a wrong key", vec![ScriptedAnswer::Says(401, error("invalid_request_error"))], 1),
        ("a card that is declined", vec![ScriptedAnswer::Says(402, error("card_error"))], 1),
        ("an ask that is never right", vec![ScriptedAnswer::Says(400, error("invalid_request_error"))], 1),
        ("the key with another body", vec![ScriptedAnswer::Says(400, error("idempotency_error"))], 1),
    ];
    for (name, turns, times) in table {
        let fake = Scripted::play(turns);
        let said = run(at(&fake.base_url).charge(charge(Some("pm_1"))));
        assert_eq!(fake.asked().len(), times, "{name}");
        let declined = matches!(&said, Ok(ProviderAnswer { standing: PaymentStanding::Failed { .. }, .. }));
        let answered = matches!(&said, Ok(ProviderAnswer { standing: PaymentStanding::Done { .. }, .. }));
        let expected = ["a card that is declined", "an ask that is never right"].contains(&name);
        assert_eq!((declined, answered), (expected, times == 2), "{name}: {said:?}");
    }
}

#[test]
fn a_provider_that_is_not_there_is_an_error_that_hides_the_key() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let base_url = format!("http://{}", nobody.local_addr().expect("an address"));
    drop(nobody);
    let stripe = at(&base_url);
    let Err(ProviderError(why)) = run(stripe.charge(charge(None))) else { panic!("nobody is there") };
    assert!(why.contains("refused") && why.contains("after 4 tries"), "{why}");
    let shown = format!("{stripe:?} {why}");
    assert!(!shown.contains(SECRET_KEY) && !shown.contains(WEBHOOK_SECRET), "{shown}");
}

#[test]
fn a_payment_that_was_never_answered_is_found_by_its_key_and_called_off() {
    let page = |ids: &[(&str, &str)], has_more| {
        let data: Vec<_> = ids.iter().map(|(id, key)| intent(id, "requires_action", key)).collect();
        ScriptedAnswer::Says(200, json!({"object": "list", "data": data, "has_more": has_more}))
    };
    let others = [("pi_9", "another's"), ("pi_8", "another's")];
    let cancelled = ScriptedAnswer::Says(200, intent("pi_7", "canceled", KEY));
    let fake = Scripted::play(vec![page(&others, true), page(&[("pi_7", KEY)], true), cancelled]);
    let said = run(at(&fake.base_url).call_off(what_of(None))).expect("answers").expect("it arrived");
    assert_eq!(said.reference.as_deref(), Some("pi_7"));
    assert!(matches!(said.standing, PaymentStanding::Failed { .. }), "{said:?}");
    assert_eq!(
        fake.lines(),
        [
            "GET /v1/payment_intents?limit=100",
            "GET /v1/payment_intents?limit=100&starting_after=pi_8",
            "POST /v1/payment_intents/pi_7/cancel",
        ]
    );
    // It never arrived: the list ends, or goes back to before it was asked.
    let fake = Scripted::play(vec![page(&others, false)]);
    assert_eq!(run(at(&fake.base_url).call_off(what_of(None))), Ok(None));
    let mut old = intent("pi_1", "succeeded", "another's");
    old["created"] = json!(NOW / 1_000 - 700);
    let fake = Scripted::play(vec![ScriptedAnswer::Says(200, json!({"data": [old], "has_more": true}))]);
    assert_eq!(run(at(&fake.base_url).look_up(what_of(None))), Ok(None));
}

#[test]
fn money_that_was_taken_before_it_was_called_off_is_told() {
    let no = ScriptedAnswer::Says(400, json!({"error": {"code": "payment_intent_unexpected_state"}}));
    let fake = Scripted::play(vec![no, paid()]);
    let said = run(at(&fake.base_url).call_off(what_of(Some("pi_1"))));
    assert_eq!(said, Ok(Some(done("pi_1", 4_500))));
    assert_eq!(fake.lines(), ["POST /v1/payment_intents/pi_1/cancel", "GET /v1/payment_intents/pi_1"]);
}

#[test]
fn a_refund_is_asked_for_again_only_if_no_earlier_try_went_through() {
    let refund = |id: &str, key: &str, status: &str| {
        json!({"id": id, "object": "refund", "status": status, "amount": 1500, "currency": "eur",
               "metadata": {"refund": format!("{KEY}-{key}")}})
    };
    let list = |all: &[Value]| ScriptedAnswer::Says(200, json!({"data": all, "has_more": false}));
    let fake =
        Scripted::play(vec![list(&[refund("re_2", "r1-t1", "succeeded"), refund("re_1", "r1", "failed")])]);
    let said = run(at(&fake.base_url).refund(give_back("pi_1", "r1-t2", 2)));
    assert_eq!(said, Ok(done("re_2", 1_500)));
    assert_eq!(fake.lines(), ["GET /v1/refunds?payment_intent=pi_1&limit=100"]);
    // Another refund of the same payment, and a try that failed, are none.
    let made = ScriptedAnswer::Says(200, refund("re_3", "r1-t1", "succeeded"));
    let fake = Scripted::play(vec![
        list(&[refund("re_2", "r2", "succeeded"), refund("re_1", "r1", "failed")]),
        made,
    ]);
    let said = run(at(&fake.base_url).refund(give_back("pi_1", "r1-t1", 1)));
    assert_eq!(said, Ok(done("re_3", 1_500)));
    let asked = fake.asked();
    assert_eq!(asked[1].line, "POST /v1/refunds");
    assert_eq!(asked[1].header("idempotency-key"), Some(&*format!("{KEY}-r1-t1")));
    // After a day Stripe may have forgotten the key.
    let fake = Scripted::play(vec![list(&[refund("re_1", "r1", "pending")])]);
    let late = GiveBack { now: NOW + 25 * 3_600_000, ..give_back("pi_1", "r1", 0) };
    let said = run(at(&fake.base_url).refund(late)).expect("answers");
    assert_eq!((said.reference.as_deref(), said.standing), (Some("re_1"), PaymentStanding::Waiting));
}

#[test]
fn localstripe_takes_what_we_ask_in_the_form_we_ask_it() {
    let fake = Localstripe::start();
    let stripe = at(&fake.base_url);
    let said = run(stripe.charge(charge(Some("pm_card_visa")))).expect("answers");
    let intent = said.reference.clone().expect("a name");
    assert_eq!(said.standing, PaymentStanding::Done { amount_minor: 4_500 });
    assert_eq!(run(stripe.look_up(what_of(Some(&intent)))), Ok(Some(said.clone())));
    assert_eq!(run(stripe.look_up(what_of(None))), Ok(Some(said)), "found by its key");
    assert_eq!(run(stripe.look_up(what_of(Some("pi_nobody")))), Ok(None));
    let declined = run(stripe.charge(charge(Some("pm_card_chargeCustomerFail")))).expect("answers");
    assert_eq!(
        declined.standing,
        PaymentStanding::Failed { reason: "card_declined: Your card was declined.".to_owned() }
    );
    let refunded = run(stripe.refund(give_back(&intent, "r1", 0))).expect("answers");
    assert_eq!(refunded.standing, PaymentStanding::Done { amount_minor: 1_500 });
    let reference = refunded.reference.clone();
    let what = LookUp { is_refund: true, reference, key: format!("{KEY}-r1"), ..what_of(None) };
    assert_eq!(run(stripe.look_up(what)), Ok(Some(refunded.clone())));
    let again = run(stripe.refund(give_back(&intent, "r1-t1", 1))).expect("answers");
    assert_eq!(again, refunded, "the first try went through, so there is no second");
    let waiting = run(stripe.charge(charge(None))).expect("answers");
    assert!(matches!(waiting.standing, PaymentStanding::NeedsAction { .. }), "{waiting:?}");
    let reference = waiting.reference.expect("a name");
    let secret = run(stripe.client_secret(reference.clone())).expect("answers").expect("a secret");
    assert!(secret.starts_with(&reference), "{secret}");
    let off = run(stripe.call_off(what_of(Some(&reference)))).expect("answers").expect("known");
    assert_eq!(off.standing, PaymentStanding::Failed { reason: "called off: not paid in time".to_owned() });
}
