//! Every bound of auctions in one place, each with its reason.

use crate::limits::bounds;
use crate::time::Millis;

bounds! {
    /// Accepted bids of one auction, retracted ones too: what a replay may cost, and what 16 bits can number.
    pub const BIDS_MAX: usize = 10_000;
    /// People who watch one auction: as many as may bid.
    pub const WATCHERS_MAX: usize = 10_000;
    /// People banned from one auction; whoever needs more closes it to the public.
    pub const BANNED_MAX: usize = 10_000;
    /// How long an auction may last: a year, and its bids' times fit into 40 bits.
    pub const LENGTH_MS_MAX: Millis = 366 * 86_400_000;
    /// Rungs of a ladder; the longest of the known houses has ten.
    pub const RUNGS_MAX: usize = 64;
    /// Entries of a list of shrinking extensions.
    pub const DECAY_MAX: usize = 64;
    pub const WINDOW_MS_DEFAULT: Millis = 30_000;
    pub const WINDOW_MS_MAX: Millis = 3_600_000;
    pub const EXTENSION_MS_DEFAULT: Millis = 30_000;
    pub const EXTENSION_MS_MAX: Millis = 3_600_000;
    /// Soft close never carries an auction further than this past its original end.
    pub const CAP_MS_DEFAULT: Millis = 3_600_000;
    pub const CAP_MS_MAX: Millis = 86_400_000;
    /// A bidder may take back a bid that is not older than this, where the auction lets bidders retract …
    pub const RETRACTION_AGE_MS_MAX: Millis = 3_600_000;
    /// … and while at least this is left, so that nobody can clear the way for a friend at the end.
    pub const RETRACTION_LEFT_MS_MIN: Millis = 43_200_000;
    /// How long the winner has to pay, from the fact that says so.
    pub const PAY_MS: Millis = 172_800_000;
    /// How long a second chance lives.
    pub const SECOND_CHANCE_MS: Millis = 86_400_000;
    pub const SECOND_CHANCES_MAX: usize = 3;
    /// A closed auction stays in the hot store this long after the last thing that happened to it.
    pub const KEEP_CLOSED_MS: Millis = 86_400_000;
    /// Lines in one page of history or watchers.
    pub const PAGE_MAX: usize = 1_000;
}
