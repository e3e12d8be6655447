//! Best available: one function, whoever asks. Rows are ranked as the layout lists them, best first.

use super::command::BestAvailable;
use super::state::{Seats, Status};
use super::view::SeatsView;
use crate::chart::Chart;
use crate::id::SeatIndex;

/// What choosing needs to know: the writer's own state, or a reader's view.
#[derive(Clone, Copy, Debug)]
pub struct House<'a> {
    pub chart: &'a Chart,
    pub bits: &'a [u8],
    /// Free seats by row, if somebody keeps count, to pass over full rows.
    pub row_available: Option<&'a [u32]>,
}

impl House<'_> {
    fn is_free(&self, seat: SeatIndex) -> bool {
        Status::in_bits(self.bits, seat) == Status::Available
    }
}

/// A stretch of free, eligible neighbours in one row.
#[derive(Clone, Copy)]
struct Run {
    row: usize,
    start: usize,
    len: usize,
}

/// The seats and the number of separate runs they lie in; `None` if there are too few.
pub fn choose(house: &House<'_>, wish: &BestAvailable) -> Option<(Vec<SeatIndex>, u8)> {
    let count = wish.count as usize;
    if count == 0 {
        return None;
    }
    if let Some(window) = best_window(house, wish, count) {
        return Some((window, 1));
    }
    // No run is long enough: the longest one, the better row first among equals, and the rest likewise.
    let mut runs: Vec<Run> = Vec::new();
    for row in 0..house.chart.rows.len() {
        runs_of(house, wish, row, 1, |run| runs.push(run));
    }
    runs.sort_by(|a, b| b.len.cmp(&a.len).then(a.row.cmp(&b.row)).then(a.start.cmp(&b.start)));
    let mut chosen = Vec::with_capacity(count);
    for (taken, run) in runs.iter().enumerate() {
        let wanted = count - chosen.len();
        if let Some((row, start)) = window_among(house, &runs[taken..], wanted) {
            chosen.extend_from_slice(&house.chart.rows[row].seats[start..start + wanted]);
            return Some((chosen, taken as u8 + 1));
        }
        chosen.extend_from_slice(&house.chart.rows[run.row].seats[run.start..run.start + run.len]);
    }
    None
}

/// The best window in any of these runs: no single seat left, then the row's rank, then its middle.
fn window_among(house: &House<'_>, runs: &[Run], count: usize) -> Option<(usize, usize)> {
    let fit = runs.iter().filter(|run| run.len >= count).map(|run| {
        let ((single, distance), start) = best_start(house.chart.rows[run.row].seats.len(), *run, count);
        (single, run.row, distance, start)
    });
    fit.min().map(|(_, row, _, start)| (row, start))
}

/// The first row with a window that leaves no single seat, or else the first row with any window.
fn best_window(house: &House<'_>, wish: &BestAvailable, count: usize) -> Option<Vec<SeatIndex>> {
    let mut second_best: Option<(usize, usize)> = None;
    for row in 0..house.chart.rows.len() {
        if house.row_available.is_some_and(|free| (free[row] as usize) < count) {
            continue;
        }
        let members = &house.chart.rows[row].seats;
        let mut best: Option<((bool, usize), usize)> = None;
        runs_of(house, wish, row, count, |run| {
            let (rank, start) = best_start(members.len(), run, count);
            if best.is_none_or(|(known, at)| (rank, start) < (known, at)) {
                best = Some((rank, start));
            }
        });
        match best {
            Some(((false, _), start)) => return Some(members[start..start + count].to_vec()),
            Some(((true, _), start)) if second_best.is_none() => second_best = Some((row, start)),
            Some(_) | None => {}
        }
    }
    second_best.map(|(row, start)| house.chart.rows[row].seats[start..start + count].to_vec())
}

/// The best window of `count` in a run: rank (leaves a single seat, distance to the row's middle) and start.
fn best_start(row_len: usize, run: Run, count: usize) -> ((bool, usize), usize) {
    let mut best = ((true, usize::MAX), run.start);
    for start in run.start..=run.start + run.len - count {
        let (left, right) = (start - run.start, run.start + run.len - count - start);
        // Both middles in half seats, so that no fraction is lost.
        let distance = (2 * start + count).abs_diff(row_len);
        let rank = (left == 1 || right == 1, distance);
        if rank < best.0 {
            best = (rank, start);
        }
    }
    best
}

/// Calls back for every run of at least `least` eligible free seats of a row, from the left.
fn runs_of(house: &House<'_>, wish: &BestAvailable, row: usize, least: usize, mut found: impl FnMut(Run)) {
    if wish.section.is_some_and(|section| house.chart.rows[row].section != section) {
        return;
    }
    let members = &house.chart.rows[row].seats;
    let mut start = 0;
    for place in 0..=members.len() {
        if members.get(place).is_some_and(|seat| is_eligible(house, wish, *seat)) {
            continue;
        }
        if place - start >= least {
            found(Run { row, start, len: place - start });
        }
        start = place + 1;
    }
}

fn is_eligible(house: &House<'_>, wish: &BestAvailable, seat: SeatIndex) -> bool {
    house.is_free(seat) && suits_seat(house.chart, wish, seat)
}

fn suits_seat(chart: &Chart, wish: &BestAvailable, seat: SeatIndex) -> bool {
    chart.seat(seat).is_some_and(|info| {
        wish.tier.is_none_or(|tier| tier == u16::from(info.tier))
            && wish.accessible == (info.accessible || info.companion)
    })
}

/// Whether a seat would suit the wish, were it free.
pub(super) fn suits(chart: &Chart, wish: &BestAvailable, seat: SeatIndex) -> bool {
    let section = chart.seat(seat).map(|info| info.section);
    wish.section.is_none_or(|wanted| Some(wanted) == section) && suits_seat(chart, wish, seat)
}

/// A free seat that would be left alone between taken ones by this pick. It was not alone before: beside it is
/// one that is picked, and that was free.
pub(super) fn leaves_single(house: &House<'_>, picked: &[SeatIndex]) -> Option<SeatIndex> {
    let is_free = |seat: SeatIndex| house.is_free(seat);
    for seat in picked {
        let info = house.chart.seat(*seat)?;
        let row = &house.chart.rows[info.row as usize].seats;
        let place = usize::from(info.place);
        let neighbours = [place.checked_sub(1), Some(place + 1)];
        for beside in neighbours.into_iter().flatten() {
            let Some(candidate) = row.get(beside).copied().filter(|s| is_free(*s) && !picked.contains(s))
            else {
                continue;
            };
            let around = [beside.checked_sub(1), Some(beside + 1)];
            let mut around = around.into_iter().flatten().filter_map(|place| row.get(place).copied());
            if around.all(|other| !is_free(other) || picked.contains(&other)) {
                return Some(candidate);
            }
        }
    }
    None
}

impl Seats {
    pub fn house(&self) -> House<'_> {
        House { chart: &self.chart, bits: &self.bits, row_available: Some(&self.row_available) }
    }
}

impl SeatsView {
    pub fn house(&self) -> House<'_> {
        House { chart: &self.chart, bits: &self.bits, row_available: None }
    }
}
