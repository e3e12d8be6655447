//! How long a start waits for Redis, for what, and how often it says so.

use std::time::{Duration, Instant};

use super::complaint::Complaint;
use super::{Config, Link, LinkError};

/// For whatever may pass by itself: another server that recovers a node, a failover, a replica that comes into step.
const WAIT: Duration = Duration::from_secs(20);
/// A large dataset on a slow disk: about a hundred gigabytes at 30 MB/s. Whoever waits in vain ends the server.
const LOADING: Duration = Duration::from_secs(3_600);
/// Between two tries.
const AGAIN: Duration = Duration::from_millis(50);

/// The waiting of one start.
#[derive(Debug)]
pub(crate) struct StartTimer {
    begun: Instant,
    /// Since when it is something else than loading.
    waits_since: Option<Instant>,
    complaint: Complaint,
}

impl StartTimer {
    pub(crate) fn new() -> StartTimer {
        StartTimer { begun: Instant::now(), waits_since: None, complaint: Complaint::default() }
    }

    /// Says what is wrong and waits a moment; gives the same error back when it has lasted too long.
    pub(crate) async fn with(&mut self, error: LinkError) -> Result<(), LinkError> {
        let Some(left) = self.left_at(&error, Instant::now()) else { return Err(error) };
        if self.complaint.is_due(&error) {
            let seconds = left.as_secs();
            tracing::warn!(%error, "the start waits for redis, at most {seconds} s more: {error}");
        }
        tokio::time::sleep(AGAIN).await;
        Ok(())
    }

    /// How much longer the start waits for this error to pass; none: it has lasted too long.
    fn left_at(&mut self, error: &LinkError, now: Instant) -> Option<Duration> {
        let loading = matches!(error, LinkError::Loading { .. });
        let (since, longest) = if loading {
            self.waits_since = None;
            (self.begun, LOADING)
        } else {
            (*self.waits_since.get_or_insert(now), WAIT)
        };
        let left = longest.saturating_sub(now.duration_since(since));
        (!left.is_zero()).then_some(left)
    }
}

impl Link {
    /// As `open`, but waits for a server that is loading its data: nobody else can do anything about that.
    pub async fn open_when_loaded(config: impl Into<Config>) -> Result<Link, LinkError> {
        let config = config.into();
        let mut timer = StartTimer::new();
        loop {
            match Link::open(config.clone()).await {
                Err(error @ LinkError::Loading { .. }) => timer.with(error).await?,
                opened => return opened,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_replicas() -> LinkError {
        LinkError::NoReplicas { node: "one".to_owned() }
    }

    #[test]
    fn a_start_waits_an_hour_for_data_to_load_and_twenty_seconds_for_anything_else() {
        let mut timer = StartTimer::new();
        let begun = timer.begun;
        let loading = LinkError::Loading { node: "one".to_owned() };
        let mut left = |error: &LinkError, seconds: u64| {
            timer.left_at(error, begun + Duration::from_secs(seconds)).map(|left| left.as_secs())
        };
        assert_eq!(left(&no_replicas(), 0), Some(20));
        assert_eq!(left(&no_replicas(), 19), Some(1));
        // What came before the loading has passed: it is waited for anew.
        assert_eq!(left(&loading, 21), Some(3_579));
        assert_eq!(left(&no_replicas(), 3_000), Some(20));
        assert_eq!(left(&LinkError::Recovering, 3_019), Some(1), "another trouble is waited for no longer");
        assert_eq!(left(&no_replicas(), 3_020), None);
        assert_eq!(left(&loading, 3_600), None);
    }

    #[tokio::test]
    async fn a_start_that_waited_too_long_ends_with_what_it_waited_for() {
        let mut timer = StartTimer::new();
        timer.waits_since = Instant::now().checked_sub(WAIT);
        assert_eq!(timer.with(no_replicas()).await, Err(no_replicas()));
    }
}
