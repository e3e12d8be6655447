//! The frame: who takes part, in which order, and how many rounds make a figure.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Everything measured, by its name in the JSON.
pub type Figures = BTreeMap<String, f64>;

/// What one round yields, by the last part of the name: `per_s`, `p99_ms`. An empty part adds nothing to the name.
pub type Round = Vec<(&'static str, f64)>;

/// Somebody who is measured. One file each.
pub trait Contestant {
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

/// The parts in which drivers of one subject compete.
const COMPARED: [&str; 3] = ["per_s", "p50_ms", "p99_ms"];

#[derive(Debug)]
pub struct Plan {
    pub rounds: usize,
    pub length: Duration,
}

/// Runs all rounds of everybody, interleaved, and returns the medians.
pub fn hold(contestants: &mut [Box<dyn Contestant>], plan: &Plan) -> Result<Figures> {
    for one in contestants.iter_mut() {
        let started = Instant::now();
        one.prepare().with_context(|| format!("preparing {}", one.title()))?;
        println!("prepared {} in {:.1} s", one.title(), started.elapsed().as_secs_f64());
    }
    let mut samples: BTreeMap<(String, &str, &str), Vec<f64>> = BTreeMap::new();
    for round in 0..plan.rounds {
        println!("round {} of {}", round + 1, plan.rounds);
        let count = contestants.len();
        for place in 0..count {
            // Each round begins with another one, so that nobody always follows the same neighbour.
            let one = &mut contestants[(place + round) % count];
            if round > 0 && one.once() {
                continue;
            }
            let values = one.round(plan.length).with_context(|| format!("measuring {}", one.title()))?;
            let shown: Vec<String> =
                values.iter().map(|(part, value)| format!("{part} {value:.3}")).collect();
            println!("  {:<34} {}", one.title(), shown.join("  "));
            for (part, value) in values {
                samples
                    .entry((one.subject(), one.driver().unwrap_or_default(), part))
                    .or_default()
                    .push(value);
            }
        }
    }
    Ok(figures(samples))
}

/// Medians of each, and the best of each subject's drivers under the subject's own name.
fn figures(samples: BTreeMap<(String, &str, &str), Vec<f64>>) -> Figures {
    let mut figures = Figures::new();
    for ((subject, driver, part), values) in samples {
        let value = median(values);
        figures.insert(joined(&[&subject, driver, part]), value);
        if !driver.is_empty() && COMPARED.contains(&part) {
            let best = figures.entry(joined(&[&subject, part])).or_insert(value);
            *best = if part.ends_with("_ms") { best.min(value) } else { best.max(value) };
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
}
