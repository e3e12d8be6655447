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
pub(crate) struct Patience {
    begun: Instant,
    /// Since when it is something else than loading.
    waits_since: Option<Instant>,
    complaint: Complaint,
}

impl Patience {
    pub fn new() -> Patience {
        Patience { begun: Instant::now(), waits_since: None, complaint: Complaint::default() }
    }

    /// Says what is wrong and waits a moment; gives the same error back when it has lasted too long.
    pub async fn with(&mut self, error: LinkError) -> Result<(), LinkError> {
        let loading = matches!(error, LinkError::Loading { .. });
        let (since, longest) = if loading {
            self.waits_since = None;
            (self.begun, LOADING)
        } else {
            (*self.waits_since.get_or_insert_with(Instant::now), WAIT)
        };
        let left = longest.saturating_sub(since.elapsed());
        if left.is_zero() {
            return Err(error);
        }
        if self.complaint.is_due(&error) {
            let seconds = left.as_secs();
            tracing::warn!(%error, "the start waits for redis, at most {seconds} s more: {error}");
        }
        tokio::time::sleep(AGAIN).await;
        Ok(())
    }
}

impl Link {
    /// As `open`, but waits for a server that is loading its data: nobody else can do anything about that.
    pub async fn open_when_loaded(config: impl Into<Config>) -> Result<Link, LinkError> {
        let config = config.into();
        let mut patience = Patience::new();
        loop {
            match Link::open(config.clone()).await {
                Err(error @ LinkError::Loading { .. }) => patience.with(error).await?,
                opened => return opened,
            }
        }
    }
}
