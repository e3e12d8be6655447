//! Saying again and again what is wrong, without filling the log: at once when it is new, then at growing distances.

use std::mem::{Discriminant, discriminant};
use std::time::{Duration, Instant};

use super::LinkError;

/// The first pause after a sentence, which doubles from time to time, and the longest.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// What was said, by the kind of error, until when each is not said again, and the pause after that.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    said: Vec<(Discriminant<LinkError>, Instant, Duration)>,
}

impl Complaint {
    /// Whether it is time to say this.
    pub(crate) fn is_due(&mut self, error: &LinkError) -> bool {
        self.is_due_at(error, Instant::now())
    }

    fn is_due_at(&mut self, error: &LinkError, now: Instant) -> bool {
        let kind = discriminant(error);
        let Some((_, silent_until, pause)) = self.said.iter_mut().find(|(known, ..)| *known == kind) else {
            self.said.push((kind, now + FIRST, FIRST));
            return true;
        };
        let due = now >= *silent_until;
        if due {
            *pause = (*pause * 2).min(LONGEST);
            *silent_until = now + *pause;
        }
        due
    }

    /// All is well: whatever comes next is new.
    pub(crate) fn is_over(&mut self) {
        self.said.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_is_said_at_growing_distances_and_another_one_at_once() {
        let mut complaint = Complaint::default();
        let begun = Instant::now();
        let error = LinkError::Recovering;
        let times: Vec<u32> = (0..4_000)
            .filter(|times| complaint.is_due_at(&error, begun + Duration::from_millis(50) * *times))
            .collect();
        assert_eq!(times, [0, 20, 60, 140, 300, 620, 1_260, 2_460, 3_660], "in steps of 50 ms");
        let later = begun + Duration::from_millis(50) * 3_661;
        assert!(complaint.is_due_at(&LinkError::Moving, later) && !complaint.is_due_at(&error, later));
        complaint.is_over();
        assert!(complaint.is_due_at(&error, later));
    }
}
