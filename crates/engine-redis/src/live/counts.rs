//! An event's counts as the hash that the seeds call `event:stats`: for pages and programs of others, never for us.

use onsale_domain::Millis;
use onsale_engine::View;
use onsale_engine::engine::BodyView;
use redis::Cmd;

/// Counts that nobody renewed are not shown for longer than this.
const COUNTS_MS: Millis = 300_000;
/// Available seats are the first of a cell's counts.
const AVAILABLE: usize = 0;

/// Replaces the counts; none of them for what is no event.
pub(super) fn commands(key: &str, view: &View) -> Vec<(String, Cmd)> {
    let BodyView::Event(seats) = &view.body else { return Vec::new() };
    let [available, held, sold, blocked] = seats.totals();
    let mut set = redis::cmd("HSET");
    set.arg(key).arg("position").arg(format!("{}-{}", view.position.epoch, view.position.offset));
    set.arg("at").arg(view.at).arg("status").arg(seats.status.as_str());
    set.arg("available").arg(available).arg("held").arg(held).arg("sold").arg(sold);
    set.arg("blocked").arg(blocked).arg("total").arg(available + held + sold + blocked);
    let free = |section: usize, tier: usize| {
        let cell = seats.chart.cell(section as u16, tier as u16);
        seats.cells.get(cell).map_or(0, |counts| counts[AVAILABLE])
    };
    let tiers = usize::from(seats.chart.tiers).min(seats.details.tiers.len());
    for (section, name) in seats.chart.sections.iter().enumerate() {
        let sum: u32 = (0..tiers).map(|tier| free(section, tier)).sum();
        set.arg(format!("section:{name}")).arg(sum);
    }
    for (tier, named) in seats.details.tiers.iter().enumerate().take(tiers) {
        let sum: u32 = (0..seats.chart.sections.len()).map(|section| free(section, tier)).sum();
        set.arg(format!("tier:{}", named.name)).arg(sum);
    }
    let expire = redis::cmd("PEXPIRE").arg(key).arg(COUNTS_MS).to_owned();
    vec![(key.to_owned(), set), (key.to_owned(), expire)]
}
