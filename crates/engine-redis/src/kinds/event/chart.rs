//! Commands that carry a whole chart or a whole set of details: made here, checked by version in the script.

use onsale_domain::chart::Chart;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::command::{AdoptChart, ChangeEvent, CreateEvent};
use onsale_domain::seats::fact::ChartAdopted;
use onsale_domain::{Fact, Refusal};

use super::commands::{meta_fields, rules};
use crate::commands::{Args, ScriptArgs, Terms};
use crate::facts::{self, Fields};
use crate::layout::Layout;
use crate::picture::Picture;

pub(super) fn create(
    picture: &Picture,
    command: &CreateEvent,
    created: Vec<EventFact>,
    terms: &Terms,
) -> ScriptArgs {
    let chart = Chart::default().adopt(&command.chart.layout);
    let mut args = Args::default();
    args.push(terms.epoch);
    args.push(chart.seats_len());
    args.bytes(tiers(&chart));
    args.bytes(command.status.as_str());
    args.bytes(rules(&command.details));
    let mut fields = meta_fields(&command.details);
    chart_fields(&chart, &mut fields);
    args.fields(&fields);
    args.push(chart.areas.len());
    for area in &chart.areas {
        args.bytes(format!("{}|0|0|0|{}|0", area.capacity, area.tier));
    }
    created.into_iter().for_each(|fact| args.fact(&Fact::Event(fact)));
    let layout = Layout::of(chart.seats_len(), terms.compact_from);
    ScriptArgs { layout, ..args.script("create_event", picture) }
}

pub(super) fn change(args: &mut Args, picture: &Picture, change: &ChangeEvent) {
    args.push(picture.versions);
    let Some(seats) = picture.listing.event() else { return };
    match seats.changed(change) {
        Err(refusal) => refused(args, &refusal),
        Ok(None) => args.bytes("same"),
        Ok(Some(details)) => {
            args.bytes("change");
            args.bytes(rules(&details));
            args.fields(&meta_fields(&details));
            args.fact(&Fact::Event(EventFact::EventChanged(Box::new(details))));
        }
    }
}

pub(super) fn adopt(args: &mut Args, picture: &Picture, adopt: &AdoptChart) {
    args.push(picture.versions);
    let Some(seats) = picture.listing.event() else { return };
    let (next, fits) = seats.next_chart(&adopt.layout);
    match fits {
        Err(refusal) => refused(args, &refusal),
        Ok(()) => ["", "", ""].iter().for_each(|nothing| args.bytes(nothing)),
    }
    let known = seats.chart().all_seats().filter(|(_, seat)| !seat.retired);
    let gone: Vec<u32> = known.map(|(index, _)| index).filter(|index| next.seat(*index).is_none()).collect();
    args.bytes(facts::seats(&gone));
    args.push(next.seats_len());
    args.bytes(tiers(&next));
    let mut fields = Fields::default();
    chart_fields(&next, &mut fields);
    args.fields(&fields);
    args.push(next.areas.len());
    for area in &next.areas {
        args.bytes(format!("{}|{}|{}", area.capacity, area.tier, u8::from(area.retired)));
    }
    let (venue, version) = (adopt.venue, adopt.version);
    args.fact(&Fact::Event(EventFact::ChartAdopted(Box::new(ChartAdopted {
        venue,
        version,
        layout: adopt.layout.clone(),
    }))));
}

fn refused(args: &mut Args, refusal: &Refusal) {
    args.bytes("field");
    args.wrong(Some(refusal));
}

/// One character a seat: its tier from `0` on, a dot for a seat that is off the chart.
fn tiers(chart: &Chart) -> Vec<u8> {
    chart.all_seats().map(|(_, seat)| if seat.retired { b'.' } else { b'0' + seat.tier }).collect()
}

fn chart_fields(chart: &Chart, fields: &mut Fields) {
    fields.push("chart", facts::packed(&chart.image()));
}
