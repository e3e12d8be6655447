//! Tables of a tenant's desk over the port; `tables/desk.txt` says how a line reads. Before each line the lease is
//! taken, and given back after it: the server that a restart makes is another one.

use onsale_domain::desk::command::{NoteAnswer, TakeWork};
use onsale_domain::desk::{
    DeskCommand, DeskFact, DeskFound, DeskQuery, PaymentStanding, Slip, Task, Webhook, desk_of,
};
use onsale_domain::money::Currency;
use onsale_domain::{
    Command, Fact, Found, ListingId, ListingKind, Millis, OrderId, Outcome, PaymentId, PaymentName, Query,
    Tenant,
};
use onsale_tables::{Table, cut};

use super::lines::{Player, TableLine, Words, number};
use super::table::ZERO;
use crate::engine::Answer;

const FILES: &[(&str, &str)] = &[("desk", include_str!("tables/desk.txt"))];
/// The listing whose orders are paid.
const EVENT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 5 };

pub(super) fn all() -> Vec<Table> {
    cut(FILES)
}

pub(super) struct OfDesks;

impl Words for OfDesks {
    const LISTING: ListingId = desk_of(Tenant::DEFAULT);
    const ZERO: Millis = ZERO;

    fn create() -> Result<Command, String> {
        Ok(Command::Desk(DeskCommand::Open))
    }

    fn say(player: &mut Player<'_>, said: &TableLine<'_>) -> Result<String, String> {
        let command = match (said.verb, said.words) {
            ("open?", []) => {
                let all = tasks(player, DeskQuery::Open { after: None, limit: 100 })?;
                return Ok(list(all.iter().map(|task| name(task.slip.payment, task.slip.refund)).collect()));
            }
            ("show", [payment]) => {
                let all = tasks(player, DeskQuery::Payment(of_event(named(payment)?.0)))?;
                return Ok(list(all.iter().map(show).collect()));
            }
            ("read?", []) => {
                let found = player.ask(Query::Desk(DeskQuery::Cursor(EVENT)))?;
                let Found::Desk(DeskFound::Cursor(through)) = found else { return Err(format!("{found:?}")) };
                return Ok(format!("through {through}"));
            }
            ("sweep", []) => Command::ExpireDue { limit: 64 },
            (verb, words) => Command::Desk(command(verb, words)?),
        };
        player.lease()?;
        let answer = player.submit(command, said.key)?;
        player.give_back_lease()?;
        Ok(told(&answer))
    }

    fn picture(player: &Player<'_>) -> Result<String, String> {
        let open = tasks(player, DeskQuery::Open { after: None, limit: 100 })?;
        Ok(format!("{:?}\n{open:?}\n{}", player.view()?.body, player.facts()?))
    }
}

/// `p1` is a payment, `p1.2` its second refund.
fn named(word: &str) -> Result<(PaymentId, u16), String> {
    let (payment, refund) = word.trim_start_matches('p').split_once('.').unwrap_or((&word[1..], "0"));
    Ok((PaymentId(number(payment)?), number(refund)?))
}

fn name(payment: PaymentId, refund: u16) -> String {
    if refund == 0 { format!("p{}", payment.0) } else { format!("p{}.{refund}", payment.0) }
}

fn of_event(payment: PaymentId) -> PaymentName {
    PaymentName { listing: EVENT, payment }
}

fn slip(word: &str) -> Result<Slip, String> {
    let (payment, refund) = named(word)?;
    Ok(Slip {
        order: OrderId(1),
        payment,
        refund,
        amount_minor: 1_000,
        currency: Currency::parse("EUR").ok_or("a currency")?,
        until: None,
        of_reference: None,
        method: None,
    })
}

fn standing(word: &str) -> Result<PaymentStanding, String> {
    Ok(match word {
        "asked" => PaymentStanding::Asked,
        "waiting" => PaymentStanding::Waiting,
        "needs_action" => PaymentStanding::NeedsAction { url: "https://bank.example/3".into() },
        "failed" => PaymentStanding::Failed { reason: "no funds".into() },
        "done" => PaymentStanding::Done { amount_minor: 1_000 },
        other => return Err(format!("{other} is nothing that a provider says")),
    })
}

/// The number behind `try`: how often the refund had failed before.
fn tries(words: &[&str]) -> Result<Option<u16>, String> {
    match words {
        [] => Ok(None),
        ["try", failures] => number(failures).map(Some),
        other => Err(format!("cannot read {other:?}")),
    }
}

fn command(verb: &str, words: &[&str]) -> Result<DeskCommand, String> {
    Ok(match (verb, words) {
        ("open", []) => DeskCommand::Open,
        ("take", [through, slips @ ..]) => DeskCommand::TakeWork(TakeWork {
            listing: EVENT,
            through: number(through)?,
            slips: slips.iter().map(|word| slip(word)).collect::<Result<_, _>>()?,
        }),
        ("answer", [what, says, rest @ ..]) => {
            let (payment, refund) = named(what)?;
            let failures = tries(rest)?.unwrap_or(0);
            let reference = Some("ref".into());
            DeskCommand::NoteAnswer(NoteAnswer {
                payment: of_event(payment),
                refund,
                failures,
                reference,
                standing: standing(says)?,
            })
        }
        ("event", [id, what, says, rest @ ..]) => {
            let about = if *what == "nothing" { None } else { Some(named(what)?) };
            DeskCommand::ReceiveWebhook(Box::new(Webhook {
                provider: "simulated".into(),
                event: if *id == "nameless" { String::new() } else { (*id).into() },
                kind: "payment".into(),
                payment: about.map(|(payment, _)| of_event(payment)),
                refund: about.map_or(0, |(_, refund)| refund),
                reference: None,
                standing: Some(standing(says)?),
                failures: tries(rest)?,
            }))
        }
        ("delivered", [what, heard]) => {
            let (payment, refund) = named(what)?;
            DeskCommand::NoteDelivered { payment: of_event(payment), refund, rank: standing(heard)?.rank() }
        }
        (verb, words) => return Err(format!("cannot say {verb} {words:?}")),
    })
}

fn tasks(player: &Player<'_>, query: DeskQuery) -> Result<Vec<Task>, String> {
    let Found::Desk(found) = player.ask(Query::Desk(query))? else {
        return Err("no answer about a desk".into());
    };
    match found {
        DeskFound::Open(tasks) | DeskFound::Payment { tasks, .. } => Ok(tasks),
        DeskFound::Nothing => Ok(Vec::new()),
        DeskFound::Cursor(_) => Err("nobody asked for a cursor".into()),
    }
}

fn list(all: Vec<String>) -> String {
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}

fn show(task: &Task) -> String {
    let failures =
        if task.failures == 0 { String::new() } else { format!(" after {} failures", task.failures) };
    let deliver = if task.to_deliver { " to deliver" } else { "" };
    format!("{} {}{failures}{deliver}", name(task.slip.payment, task.slip.refund), task.standing.as_str())
}

fn told(answer: &Answer) -> String {
    let facts = answer.step().map_or(&[][..], |step| &step.facts);
    let mut parts: Vec<String> = facts.iter().map(fact).collect();
    if let Some(refusal) = answer.outcome.refused() {
        parts.push(refusal.code.as_str().to_owned());
    } else if answer.outcome != Outcome::Done {
        parts.push(format!("{:?}", answer.outcome).to_lowercase());
    }
    format!("{}{}", if answer.replayed { "(again) " } else { "" }, parts.join(", "))
}

fn fact(fact: &Fact) -> String {
    let Fact::Desk(fact) = fact else { return fact.kind().to_owned() };
    match fact {
        DeskFact::Opened => "opened".into(),
        DeskFact::WorkTaken { through, slips, .. } => {
            let slips: Vec<String> = slips.iter().map(|slip| name(slip.payment, slip.refund)).collect();
            format!("took {} through {through}", list(slips))
        }
        DeskFact::Answered { payment, refund, standing, .. } => {
            format!("{} {}", name(payment.payment, *refund), standing.as_str())
        }
        DeskFact::WebhookReceived(webhook) => format!("received {}", webhook.event),
        DeskFact::Delivered { payment, refund } => format!("{} delivered", name(payment.payment, *refund)),
    }
}
