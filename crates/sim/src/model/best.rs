//! Best available, by trying every window of every row; and the rule against single seats.

use std::collections::BTreeSet;

use onsale_domain::seats::Status;
use onsale_domain::seats::command::BestAvailable;

use super::Event;

impl Event {
    /// The seats and how many pieces they lie in.
    pub fn best(&self, wish: &BestAvailable) -> Option<(Vec<u32>, u8)> {
        let status = self.statuses();
        let wanted = |seat: &u32| {
            let Some(info) = self.chart.seats.get(seat) else { return false };
            status[*seat as usize] == Status::Available
                && wish.tier.is_none_or(|tier| tier == info.tier)
                && wish.section.is_none_or(|section| section == info.section)
                && wish.accessible == info.special
        };
        let (mut chosen, mut pieces): (Vec<u32>, u8) = (Vec::new(), 0);
        loop {
            let free = |seat: &u32| wanted(seat) && !chosen.contains(seat);
            let count = wish.count as usize - chosen.len();
            pieces += 1;
            if let Some((row, start)) = self.window(count, &free) {
                chosen.extend(&self.chart.rows[row].1[start..start + count]);
                return Some((chosen, pieces));
            }
            let (length, row, start) = self.longest_run(&free)?;
            chosen.extend(&self.chart.rows[row].1[start..start + length]);
        }
    }

    /// The best of all windows in one run: by whether it leaves a single seat, row, distance to the middle, start.
    fn window(&self, count: usize, free: &impl Fn(&u32) -> bool) -> Option<(usize, usize)> {
        let mut best: Option<(bool, usize, usize, usize)> = None;
        for (row, (_, seats)) in self.chart.rows.iter().enumerate() {
            for start in 0..(seats.len() + 1).saturating_sub(count) {
                if !seats[start..start + count].iter().all(free) {
                    continue;
                }
                let left = seats[..start].iter().rev().take_while(|seat| free(seat)).count();
                let right = seats[start + count..].iter().take_while(|seat| free(seat)).count();
                let distance = (2 * start + count).abs_diff(seats.len());
                let this = (left == 1 || right == 1, row, distance, start);
                if best.is_none_or(|best| this < best) {
                    best = Some(this);
                }
            }
        }
        best.map(|(_, row, _, start)| (row, start))
    }

    /// The first of the longest runs.
    fn longest_run(&self, free: &impl Fn(&u32) -> bool) -> Option<(usize, usize, usize)> {
        let mut longest: Option<(usize, usize, usize)> = None;
        for (row, (_, seats)) in self.chart.rows.iter().enumerate() {
            for start in 0..seats.len() {
                let length = seats[start..].iter().take_while(|seat| free(seat)).count();
                if length > longest.map_or(0, |(length, ..)| length) {
                    longest = Some((length, row, start));
                }
            }
        }
        longest
    }

    /// The first free seat beside the pick that it would leave alone and that was not alone before.
    pub fn single_left_by(&self, picked: &[u32]) -> Option<u32> {
        let status = self.statuses();
        let free = |seat: &u32| status[*seat as usize] == Status::Available;
        let after: BTreeSet<u32> = picked.iter().copied().collect();
        for seat in picked {
            let (_, row) = self.chart.rows.iter().find(|(_, row)| row.contains(seat))?;
            let at = row.iter().position(|one| one == seat)?;
            for beside in [at.wrapping_sub(1), at + 1] {
                let Some(candidate) = row.get(beside) else { continue };
                if !free(candidate) || after.contains(candidate) {
                    continue;
                }
                let around: Vec<&u32> =
                    [beside.wrapping_sub(1), beside + 1].iter().filter_map(|at| row.get(*at)).collect();
                let alone_before = around.iter().all(|one| !free(one));
                let alone_after = around.iter().all(|one| !free(one) || after.contains(one));
                if alone_after && !alone_before {
                    return Some(*candidate);
                }
            }
        }
        None
    }
}
