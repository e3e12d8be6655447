//! The frame: who takes part, in which order, and how many rounds make a figure.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Everything measured, by its name in the JSON.
pub(crate) type Figures = BTreeMap<String, f64>;

/// What one round yields, by the last part of the name: `per_s`, `p99_ms`. An empty part adds nothing to the name.
pub(crate) type Round = Vec<(&'static str, f64)>;

/// Somebody who is measured. One file each.
pub(crate) trait Contestant {
    /// What is measured, the first part of each figure's name: `redis_always_p1`.
    fn subject(&self) -> String;

    /// Who drives it, where several do; of a subject with several drivers the best figure counts.
    fn driver(&self) -> Option<&'static str> {
        None
    }

    /// Starts and fills what the rounds need. Called once, before anybody's first round.
    fn prepare(&mut self) -> Result<()>;

    /// Measures for about `length`; whatever else it has to do happens outside of the measured time.
    fn round(&mut self, length: Duration) -> Result<Round>;

    /// Whether the first round is enough, for figures that do not vary or take long.
    fn once(&self) -> bool {
        false
    }

    /// The name in the progress lines.
    fn title(&self) -> String {
        joined(&[&self.subject(), self.driver().unwrap_or_default()])
    }
}

/// The parts in which drivers of one subject compete, and of which ratios are made.
const PARTS: [&str; 4] = ["per_s", "p50_ms", "p99_ms", "ns"];

#[derive(Debug)]
pub(crate) struct Plan {
    pub rounds: usize,
    pub length: Duration,
}

/// A ratio that is asked for, under its name, and the two figures that make it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duel {
    pub name: &'static str,
    pub above: &'static str,
    pub below: &'static str,
}

/// Who is measured one right after the other. A machine that is shared changes its speed from minute to minute: two
/// figures make a ratio only if they come from the same moment.
enum Bout {
    Alone(usize),
    Duel { name: &'static str, above: Side, below: Side },
}

/// The drivers of one subject, by their places, and which part of their rounds is compared.
struct Side {
    drivers: Vec<usize>,
    part: &'static str,
}

impl Side {
    /// Who takes part in what makes this figure; nobody where it is not measured.
    fn of(figure: &str, contestants: &[Box<dyn Contestant>]) -> Option<Self> {
        PARTS.into_iter().find_map(|part| {
            let subject = figure.strip_suffix(part)?.strip_suffix('_')?;
            let drivers = contestants.iter().enumerate().filter(|(_, one)| one.subject() == subject);
            let drivers: Vec<usize> = drivers.map(|(place, _)| place).collect();
            (!drivers.is_empty()).then_some(Self { drivers, part })
        })
    }
}

/// Every duel whose two sides are there, and whoever is in none of them.
fn bouts(contestants: &[Box<dyn Contestant>], duels: &[Duel]) -> Vec<Bout> {
    let duels: Vec<Bout> = duels
        .iter()
        .filter_map(|duel| {
            let (above, below) = (Side::of(duel.above, contestants)?, Side::of(duel.below, contestants)?);
            Some(Bout::Duel { name: duel.name, above, below })
        })
        .collect();
    let fights = |place: &usize| {
        duels.iter().any(|bout| match bout {
            Bout::Alone(_) => false,
            Bout::Duel { above, below, .. } => above.drivers.contains(place) || below.drivers.contains(place),
        })
    };
    let alone: Vec<Bout> = (0..contestants.len()).filter(|place| !fights(place)).map(Bout::Alone).collect();
    alone.into_iter().chain(duels).collect()
}

/// Runs all rounds of everybody and returns the medians, of the duels' ratios too.
pub(crate) fn hold(contestants: &mut [Box<dyn Contestant>], duels: &[Duel], plan: &Plan) -> Result<Figures> {
    for one in contestants.iter_mut() {
        let started = Instant::now();
        one.prepare().with_context(|| format!("preparing {}", one.title()))?;
        println!("prepared {} in {:.1} s", one.title(), started.elapsed().as_secs_f64());
    }
    let bouts = bouts(contestants, duels);
    let mut samples = Samples::new();
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for round in 0..plan.rounds {
        println!("round {} of {}", round + 1, plan.rounds);
        for place in 0..bouts.len() {
            // Each round begins with another one, so that nobody always follows the same neighbour.
            match &bouts[(place + round) % bouts.len()] {
                Bout::Alone(place) => {
                    let one = &mut *contestants[*place];
                    if round == 0 || !one.once() {
                        measure(one, plan, &mut samples)?;
                    }
                }
                Bout::Duel { name, above, below } => {
                    let mut side = |side: &Side| {
                        let mut best = None;
                        for place in &side.drivers {
                            let values = measure(&mut *contestants[*place], plan, &mut samples)?;
                            let value = values.into_iter().find(|(part, _)| *part == side.part);
                            let value = value.with_context(|| format!("no {} was measured", side.part))?.1;
                            best = Some(best.map_or(value, |best| better(side.part, best, value)));
                        }
                        best.context("nobody to measure")
                    };
                    // Who goes first changes: the second meets what the first has left behind.
                    let ratio = if round % 2 == 0 {
                        let below = side(below)?;
                        side(above)? / below
                    } else {
                        side(above)? / side(below)?
                    };
                    println!("    {name} {ratio:.3}");
                    ratios.entry(name).or_default().push(ratio);
                }
            }
        }
    }
    let mut figures = figures(samples);
    figures.extend(ratios.into_iter().map(|(name, values)| (name.to_owned(), median(values))));
    Ok(figures)
}

/// What was measured of whom, by subject, driver and part.
type Samples = BTreeMap<(String, &'static str, &'static str), Vec<f64>>;

fn measure(one: &mut dyn Contestant, plan: &Plan, samples: &mut Samples) -> Result<Round> {
    let values = one.round(plan.length).with_context(|| format!("measuring {}", one.title()))?;
    let shown: Vec<String> = values.iter().map(|(part, value)| format!("{part} {value:.3}")).collect();
    println!("  {:<34} {}", one.title(), shown.join("  "));
    for (part, value) in &values {
        samples.entry((one.subject(), one.driver().unwrap_or_default(), part)).or_default().push(*value);
    }
    Ok(values)
}

/// A time is better when it is shorter, a rate when it is higher.
fn better(part: &str, one: f64, other: f64) -> f64 {
    if part == "per_s" { one.max(other) } else { one.min(other) }
}

/// Medians of each, and the best of each subject's drivers under the subject's own name.
fn figures(samples: Samples) -> Figures {
    let mut figures = Figures::new();
    for ((subject, driver, part), values) in samples {
        let value = median(values);
        figures.insert(joined(&[&subject, driver, part]), value);
        if !driver.is_empty() && PARTS.contains(&part) {
            let best = figures.entry(joined(&[&subject, part])).or_insert(value);
            *best = better(part, *best, value);
        }
    }
    figures
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.len() % 2, values.get(middle)) {
        (_, None) => f64::NAN,
        (1, Some(value)) => *value,
        (_, Some(value)) => (values[middle - 1] + value) / 2.0,
    }
}

fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_value_counts() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn the_better_driver_speaks_for_its_subject() {
        let sample = |driver, part, value| (("redis".to_owned(), driver, part), vec![value]);
        let figures = figures(BTreeMap::from([
            sample("client", "per_s", 10.0),
            sample("tool", "per_s", 20.0),
            sample("client", "p99_ms", 3.0),
            sample("tool", "p99_ms", 4.0),
        ]));
        assert_eq!(figures["redis_per_s"], 20.0);
        assert_eq!(figures["redis_p99_ms"], 3.0);
        assert_eq!(figures["redis_client_per_s"], 10.0);
    }

    /// Answers with one value after the other.
    struct Steps(&'static str, Option<&'static str>, Vec<f64>);

    impl Contestant for Steps {
        fn subject(&self) -> String {
            self.0.to_owned()
        }

        fn driver(&self) -> Option<&'static str> {
            self.1
        }

        fn prepare(&mut self) -> Result<()> {
            Ok(())
        }

        fn round(&mut self, _: Duration) -> Result<Round> {
            Ok(vec![("per_s", self.2.remove(0)), ("p99_ms", 1.0)])
        }
    }

    #[test]
    fn a_ratio_is_the_middle_one_of_its_duels() {
        // In the second round the machine is ten times as fast: the ratio stays what it is.
        let mut contestants: Vec<Box<dyn Contestant>> = vec![
            Box::new(Steps("ours", None, vec![30.0, 300.0, 20.0])),
            Box::new(Steps("theirs", Some("client"), vec![10.0, 100.0, 10.0])),
            Box::new(Steps("theirs", Some("tool"), vec![5.0, 50.0, 40.0])),
            Box::new(Steps("alone", None, vec![1.0, 2.0, 3.0])),
        ];
        let duels = [
            Duel { name: "ours_vs_theirs", above: "ours_per_s", below: "theirs_per_s" },
            Duel { name: "ours_vs_nobody", above: "ours_per_s", below: "nobody_per_s" },
        ];
        let plan = Plan { rounds: 3, length: Duration::ZERO };
        let figures = hold(&mut contestants, &duels, &plan).expect("all answer");
        assert_eq!(figures["ours_vs_theirs"], 3.0);
        assert_eq!(figures["alone_per_s"], 2.0);
        assert!(!figures.contains_key("ours_vs_nobody"), "one of its sides is not there");
    }
}
