//! The buckets of this process: rows of sixteen, never more than were made at the start. A bucket that is full again is the same as none,
//! so its place is taken by the next stranger, without anybody looking for it. Knows numbers only, no names.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::gcra::{Level, Micros, Rate};

/// Places in a row. Rows have twice the places they need, so that a row is full when all the others are.
const WAYS: usize = 16;
/// Sixteen names, and when each of their buckets is full again: the names alone are two lines of the processor's cache.
type Row = [[u64; WAYS]; 2];
const FULL_AT: usize = 1;
/// Parts that are locked apart.
const SHARDS: usize = 64;
/// How many buckets one request can need: a key, a user and an address, two limits each.
pub(super) const CHARGES_MAX: usize = 6;
/// Strangers who found no place share a bucket as large as so many of their own: enough for people who come by, and no
/// matter for those who made a million names.
const STRANGERS: u32 = 100;

/// One bucket that a request takes a token from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charge {
    /// Of its limit and whom it counts, made with a secret of this process. Never 0.
    pub name: u64,
    pub rate: Rate,
    /// The number of its limit: whose strangers share a bucket.
    pub policy: usize,
}

#[derive(Debug)]
pub(super) struct Table {
    shards: Box<[Mutex<Vec<Row>>]>,
    /// When the bucket that strangers share is full again, one for each limit.
    strangers: Mutex<Vec<Micros>>,
    /// How often a stranger found no place.
    crowded: AtomicU64,
}

/// Where the bucket of a charge is.
#[derive(Clone, Copy)]
enum Place {
    Row { guard: usize, row: usize, way: usize },
    Strangers,
}

impl Table {
    pub(super) fn new(entries: usize, policies: usize) -> Table {
        let rows = (entries * 2 / WAYS / SHARDS).max(1).next_power_of_two();
        // Zeros that nobody has touched take no memory: the system gives pages when they are written.
        let shards = (0..SHARDS).map(|_| Mutex::new(vec![[[0; WAYS]; 2]; rows]));
        Table {
            shards: shards.collect(),
            strangers: Mutex::new(vec![0; policies]),
            crowded: AtomicU64::new(0),
        }
    }

    pub(super) fn crowded(&self) -> u64 {
        self.crowded.load(Ordering::Relaxed)
    }

    /// Takes a token from each bucket, or from none. The levels are those afterwards; true: taken.
    pub(super) fn take_all(&self, charges: &[Charge], levels: &mut [Level], now: Micros) -> bool {
        assert!(charges.len() <= CHARGES_MAX && charges.len() == levels.len(), "room for every bucket");
        let mut guards = self.lock(charges);
        let mut strangers = None;
        let mut places = [Place::Strangers; CHARGES_MAX];
        for (number, charge) in charges.iter().enumerate() {
            places[number] = self.find(charges, charge, &mut guards, now);
            if matches!(places[number], Place::Strangers) && strangers.is_none() {
                self.crowded.fetch_add(1, Ordering::Relaxed);
                strangers = Some(self.strangers.lock());
            }
        }
        // Behind the rows in order: nobody waits for a row who has this.
        let mut is_passed = true;
        let mut full_at = [0; CHARGES_MAX];
        for (number, charge) in charges.iter().enumerate() {
            full_at[number] = match (places[number], &strangers) {
                (Place::Row { guard, row, way }, _) => {
                    guards[guard].as_ref().map_or(0, |(_, rows)| rows[row][FULL_AT][way])
                }
                (Place::Strangers, strangers) => strangers.as_ref().map_or(0, |all| all[charge.policy]),
            };
            is_passed &= rate_at(charge, places[number]).level(full_at[number], now).remaining > 0;
        }
        for (number, charge) in charges.iter().enumerate() {
            let rate = rate_at(charge, places[number]);
            // Of a refused one the bucket is as it was, but for a time that a clock which jumped back has left.
            let full_at = rate.take(full_at[number], now, u32::from(is_passed));
            levels[number] = rate.level(full_at, now);
            match places[number] {
                Place::Row { guard, row, way } => {
                    if let Some((_, rows)) = &mut guards[guard] {
                        rows[row][FULL_AT][way] = full_at;
                    }
                }
                Place::Strangers => {
                    if let Some(all) = &mut strangers {
                        all[charge.policy] = full_at;
                    }
                }
            }
        }
        is_passed
    }

    /// Locks what the charges need, each part once and in one order, so that two requests never wait for one another.
    fn lock(&self, charges: &[Charge]) -> Guards<'_> {
        let mut wanted = [usize::MAX; CHARGES_MAX];
        for (slot, charge) in wanted.iter_mut().zip(charges) {
            *slot = shard_of(charge.name);
        }
        wanted.sort_unstable();
        let mut guards: Guards<'_> = [const { None }; CHARGES_MAX];
        let mut last = usize::MAX;
        for (guard, shard) in guards.iter_mut().zip(wanted) {
            if shard != usize::MAX && shard != last {
                *guard = Some((shard, self.shards[shard].lock()));
                last = shard;
            }
        }
        guards
    }

    /// The bucket of that name. A stranger takes the place of the bucket that has been full for the longest.
    fn find(&self, charges: &[Charge], charge: &Charge, guards: &mut Guards<'_>, now: Micros) -> Place {
        let shard = shard_of(charge.name);
        for (guard, slot) in guards.iter_mut().enumerate() {
            let Some((_, rows)) = slot.as_mut().filter(|(locked, _)| *locked == shard) else { continue };
            // The power of two makes this a mask.
            let row = (charge.name >> 6) as usize & (rows.len() - 1);
            let [names, full_at] = &mut rows[row];
            if let Some(way) = names.iter().position(|name| *name == charge.name) {
                return Place::Row { guard, row, way };
            }
            let is_ours = |name: u64| charges.iter().any(|charge| charge.name == name);
            let oldest = (0..WAYS).filter(|way| !is_ours(names[*way])).min_by_key(|way| full_at[*way]);
            return match oldest.filter(|way| full_at[*way] <= now) {
                Some(way) => {
                    (names[way], full_at[way]) = (charge.name, now);
                    Place::Row { guard, row, way }
                }
                None => Place::Strangers,
            };
        }
        Place::Strangers
    }

    /// Buckets that are not full.
    #[cfg(test)]
    pub(super) fn busy(&self, now: Micros) -> usize {
        let rows = |shard: &Mutex<Vec<Row>>| {
            let shard = shard.lock();
            shard.iter().flat_map(|row| row[FULL_AT]).filter(|full_at| *full_at > now).count()
        };
        self.shards.iter().map(rows).sum()
    }

    #[cfg(test)]
    pub(super) fn places(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len() * WAYS).sum()
    }
}

type Guards<'a> = [Option<(usize, MutexGuard<'a, Vec<Row>>)>; CHARGES_MAX];

fn shard_of(name: u64) -> usize {
    (name as usize) % SHARDS
}

fn rate_at(charge: &Charge, place: Place) -> Rate {
    match place {
        Place::Row { .. } => charge.rate,
        Place::Strangers => charge.rate.times(STRANGERS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Micros = 1_000_000;

    fn charge(name: u64, rate: Rate) -> Charge {
        Charge { name, rate, policy: 0 }
    }

    fn take(table: &Table, charges: &[Charge], now: Micros) -> bool {
        let mut levels = [Level::default(); CHARGES_MAX];
        table.take_all(charges, &mut levels[..charges.len()], now)
    }

    /// Spread as hashes are.
    fn name(number: u64) -> u64 {
        (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    }

    #[test]
    fn all_buckets_give_or_none_does() {
        let table = Table::new(1_000, 1);
        let (wide, narrow) = (Rate::new(60, 60 * SECOND, 10), Rate::new(60, 60 * SECOND, 2));
        let both = [charge(name(1), wide), charge(name(2), narrow)];
        assert!(take(&table, &both, 0) && take(&table, &both, 0));
        for _ in 0..50 {
            assert!(!take(&table, &both, 0));
        }
        // The refused ones were not charged to the wide one.
        for _ in 0..8 {
            assert!(take(&table, &both[..1], 0));
        }
        assert!(!take(&table, &both[..1], 0));
    }

    #[test]
    fn buckets_of_one_row_that_are_all_new_get_places_of_their_own() {
        let table = Table::new(1, 1);
        let rate = Rate::new(60, 60 * SECOND, 1);
        // One row in each part, and all six in the same.
        let all: Vec<Charge> = (1..=6).map(|number| charge(number * SHARDS as u64, rate)).collect();
        assert!(take(&table, &all, 0));
        for one in &all {
            assert!(!take(&table, &[*one], 0), "{}", one.name);
        }
        assert_eq!(table.crowded(), 0);
    }

    #[test]
    fn a_million_strange_names_take_no_more_room_and_nobody_passes_freely() {
        let table = Table::new(100_000, 1);
        let rate = Rate::new(60, 60 * SECOND, 1);
        let places = table.places();
        let known = charge(name(9_999_999), rate);
        assert!(take(&table, &[known], 0));
        let passed = (0..1_000_000).filter(|number| take(&table, &[charge(name(*number), rate)], 0)).count();
        // Each place gave one token, and what strangers share gave its own.
        assert!(passed <= places + STRANGERS as usize, "{passed} of {places}");
        assert!(passed > places * 9 / 10, "{passed} of {places}");
        assert_eq!(table.places(), places);
        assert!(table.busy(0) <= places);
        assert!(table.crowded() as usize >= 1_000_000 - places - 1);
        // Whom it knew before the flood it still knows.
        assert!(!take(&table, &[known], 0));
        // When their time is over all places are free again, without anybody cleaning up.
        let later = 2 * SECOND;
        assert_eq!(table.busy(later), 0);
        let again = (0..10_000).filter(|number| take(&table, &[charge(name(*number), rate)], later)).count();
        assert_eq!(again, 10_000);
    }

    #[test]
    fn as_many_as_it_is_made_for_find_a_place_each() {
        let table = Table::new(100_000, 1);
        let rate = Rate::new(60, 60 * SECOND, 1);
        (0..100_000).for_each(|number| assert!(take(&table, &[charge(name(number), rate)], 0)));
        assert!(table.crowded() < 100, "{}", table.crowded());
        // Sixteen bytes each, in twice as many places rounded up to a power of two.
        assert!(table.places() <= 400_000);
        assert_eq!(Table::new(1_000_000, 1).places() * 16, 33_554_432);
    }

    #[test]
    fn requests_on_many_threads_at_once_get_what_there_is_and_never_wait_for_one_another() {
        let table = Table::new(1_000, 1);
        let rate = Rate::new(60, 60 * SECOND, 60);
        let passed: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let table = &table;
                    scope.spawn(move || {
                        // In another order on every thread.
                        let mut charges: Vec<Charge> =
                            (0..6).map(|number| charge(name(number), rate)).collect();
                        charges.rotate_left(thread);
                        (0..5_000).filter(|_| take(table, &charges, 0)).count()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(passed, 60);
    }
}
