//! The arithmetic of a limit, in whole microseconds: a bucket of tokens is one number, the moment at which it is full again. Pure:
//! time is an argument. `lua/take_tokens.lua` and `lua/charge_attempt.lua` say the same on Redis.

/// Microseconds since some moment that stays the same: the start of the process, or 1970.
pub type Micros = u64;

/// How fast a bucket fills, and how much it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How long one token takes. Rounded up: a limit is never exceeded by rounding.
    pub interval_us: Micros,
    /// How long an empty bucket takes.
    pub horizon_us: Micros,
}

/// A bucket at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Tokens that can be had now.
    pub remaining: u32,
    /// How long until there is one; 0 when there is.
    pub next_in_us: Micros,
    /// How long until the bucket is full.
    pub full_in_us: Micros,
}

impl Rate {
    pub const fn new(count: u32, window_us: Micros, burst: u32) -> Rate {
        let interval_us = window_us.div_ceil(count as Micros);
        Rate { interval_us, horizon_us: interval_us * burst as Micros }
    }

    pub const fn burst(self) -> u32 {
        (self.horizon_us / self.interval_us) as u32
    }

    /// What one of so many servers may give on its own: all of them together stay within the limit, but for the one token
    /// that each has at least.
    pub const fn share(self, servers: u32) -> Rate {
        let servers = if servers == 0 { 1 } else { servers };
        let burst = self.burst() / servers;
        let interval_us = self.interval_us * servers as Micros;
        Rate { interval_us, horizon_us: interval_us * if burst == 0 { 1 } else { burst as Micros } }
    }

    /// The same for so many callers together.
    pub const fn times(self, callers: u32) -> Rate {
        let interval_us = self.interval_us.div_ceil(callers as Micros);
        Rate { interval_us, horizon_us: interval_us * self.burst() as Micros * callers as Micros }
    }

    /// A clock that jumped back leaves a bucket that is full far in the future; it counts as empty, no worse.
    fn begin(self, full_at: Micros, now: Micros) -> Micros {
        full_at.clamp(now, now + self.horizon_us)
    }

    pub fn level(self, full_at: Micros, now: Micros) -> Level {
        let begin = self.begin(full_at, now);
        let remaining = (now + self.horizon_us - begin) / self.interval_us;
        let next_in_us = if remaining > 0 { 0 } else { begin + self.interval_us - now - self.horizon_us };
        // A horizon holds `burst` intervals, and a burst fits.
        Level { remaining: remaining as u32, next_in_us, full_in_us: begin - now }
    }

    /// When the bucket is full again once `tokens` are taken, none to many; no more than `level` has.
    pub fn take(self, full_at: Micros, now: Micros, tokens: u32) -> Micros {
        self.begin(full_at, now) + self.interval_us * Micros::from(tokens)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tokens as an exact fraction: `level / interval`. Another way to count the same.
    struct Model {
        level: u128,
        seen: Micros,
    }

    impl Model {
        fn take(&mut self, rate: Rate, now: Micros) -> bool {
            self.level = (self.level + u128::from(now - self.seen)).min(u128::from(rate.horizon_us));
            self.seen = now;
            let is_passed = self.level >= u128::from(rate.interval_us);
            if is_passed {
                self.level -= u128::from(rate.interval_us);
            }
            is_passed
        }
    }

    fn rates() -> impl Strategy<Value = (u32, Micros, u32)> {
        (1..5_000_u32, 60..=3_600_u64, 1..200_u32)
            .prop_map(|(count, seconds, burst)| (count, seconds * 1_000_000, burst.min(count)))
    }

    proptest! {
        #[test]
        fn a_bucket_gives_what_exact_fractions_give(
            (count, window_us, burst) in rates(),
            steps in prop::collection::vec((0..4_u64, 0..1_000_u64), 1..400),
        ) {
            let rate = Rate::new(count, window_us, burst);
            let mut model = Model { level: u128::from(rate.horizon_us), seen: 5 };
            let (mut full_at, mut now) = (0, 5);
            for (scale, part) in steps {
                now += match scale { 0 => 0, 1 => rate.interval_us * part / 1_000, 2 => part, _ => rate.interval_us * 3 };
                let level = rate.level(full_at, now);
                let is_passed = level.remaining > 0;
                prop_assert_eq!(is_passed, model.take(rate, now));
                prop_assert_eq!(level.next_in_us == 0, is_passed);
                if is_passed {
                    full_at = rate.take(full_at, now, 1);
                } else {
                    prop_assert_eq!(rate.level(full_at, now + level.next_in_us).remaining, 1);
                    prop_assert_eq!(rate.level(full_at, now + level.next_in_us - 1).remaining, 0);
                }
                let full = rate.level(full_at, now + rate.level(full_at, now).full_in_us);
                prop_assert_eq!(full.remaining, burst);
            }
        }

        #[test]
        fn rounding_makes_a_limit_narrower_and_never_by_more_than_a_microsecond_a_token(
            count in 1..=1_000_000_u32, seconds in 60..=3_600_u64,
        ) {
            let (count_us, window_us) = (u64::from(count), seconds * 1_000_000);
            let interval_us = Rate::new(count, window_us, 1).interval_us;
            prop_assert!(interval_us * count_us >= window_us);
            prop_assert!((interval_us - 1) * count_us < window_us);
        }

        #[test]
        fn no_stretch_of_time_has_more_than_a_burst_and_its_own_share(
            (count, window_us, burst) in rates(),
            gaps in prop::collection::vec(0..1_200_u64, 1..300),
        ) {
            let rate = Rate::new(count, window_us, burst);
            let (mut full_at, mut now, mut passed) = (0, 0, Vec::new());
            for gap in gaps {
                now += rate.interval_us * gap / 1_000;
                if rate.level(full_at, now).remaining > 0 {
                    full_at = rate.take(full_at, now, 1);
                    passed.push(now);
                }
            }
            // A list of timestamps, and the rule as it is written for people.
            for (from, begun) in passed.iter().enumerate() {
                for (until, ended) in passed.iter().enumerate().skip(from) {
                    let among = (until - from + 1) as u128;
                    let allowed = u128::from(burst)
                        + u128::from(ended - begun) * u128::from(count) / u128::from(window_us);
                    prop_assert!(among <= allowed, "{among} of {allowed} from {begun} to {ended}");
                }
            }
        }

        #[test]
        fn a_clock_that_jumps_back_gives_nothing_away_and_takes_no_longer_than_an_empty_bucket(
            (count, window_us, burst) in rates(),
            back in 0..10_000_000_000_u64,
            spent in 0..200_u32,
        ) {
            let rate = Rate::new(count, window_us, burst);
            let before = 20_000_000_000;
            let full_at = rate.take(0, before, spent.min(burst));
            let (then, now) = (rate.level(full_at, before), before - back);
            let level = rate.level(full_at, now);
            prop_assert!(level.remaining <= then.remaining);
            prop_assert!(level.next_in_us <= rate.interval_us);
            prop_assert!(level.full_in_us <= rate.horizon_us);
        }

        #[test]
        fn the_shares_of_all_servers_are_at_most_the_whole(
            (count, window_us, burst) in rates(), servers in 1..9_u32,
        ) {
            let (rate, share) = (Rate::new(count, window_us, burst), Rate::new(count, window_us, burst).share(servers));
            prop_assert!(share.burst() * servers <= rate.burst().max(servers));
            prop_assert_eq!(share.interval_us, rate.interval_us * u64::from(servers));
            prop_assert!(share.burst() >= 1);
        }
    }
}
