//! The shape of every kind of listing: `each_kind!` lists them, [`crate::listing::Body`] calls them, and nothing else
//! in the house needs to know how many there are.

use std::fmt::Debug;

use minicbor::{Decode, Encode};

use crate::id::{BuyerId, ListingId};
use crate::order::{Goods, GoodsChange};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::step_writer::StepWriter;
use crate::time::Millis;

/// The state of a listing of one kind, with its rules.
pub trait Kind: Clone + Debug {
    type Command;
    type Fact;
    /// What readers see: immutable, cheap to copy, taken without asking the writer.
    type View;
    type Query;
    type Found;
    /// The state as a snapshot has it.
    type Image: Encode<()> + for<'b> Decode<'b, ()>;

    /// The facts that begin a listing. Asked only for a command whose verb creates.
    fn create(command: &Self::Command, now: Millis) -> Result<Vec<Self::Fact>, Refusal>;

    /// The state that a listing's first fact makes; none for any other fact.
    fn begin(id: ListingId, first: &Self::Fact) -> Option<Self>;

    /// Refuses what no state could make sense of: such a command records nothing at all.
    fn check(_command: &Self::Command) -> Result<(), Refusal> {
        Ok(())
    }

    /// Expires what a command touches, decides it and applies what follows, fact by fact.
    fn execute(&mut self, command: &Self::Command, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal>;

    /// The sweep: what is due though no command touched it, at most `limit` deadlines.
    fn sweep(&mut self, _limit: u32, _tail: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        Ok(Outcome::Unchanged)
    }

    /// Takes the next fact into the state: the only way it changes, live and in recovery.
    fn apply(&mut self, fact: &Self::Fact, fence: u64, at: Millis);

    /// When something falls due that no command has touched.
    fn next_due(&self) -> Option<Millis> {
        None
    }

    fn view(&self) -> Self::View;

    /// When the clock ends a listing; none once a fact has ended it, or if no clock ever does.
    fn over_at(_view: &Self::View) -> Option<Millis> {
        None
    }

    /// Answers a question about one buyer's things; changes nothing.
    fn ask(&self, query: &Self::Query, now: Millis) -> Self::Found;

    /// Whether an answer says that whoever was asked about has nothing to do with the listing.
    fn is_nothing(_found: &Self::Found) -> bool {
        false
    }

    fn image(&self) -> Self::Image;

    /// Puts an image into the one order that the same state always has.
    fn sort(_image: &mut Self::Image) {}

    fn from_image(id: ListingId, image: Self::Image) -> Self;

    /// Counts everything again and says what does not add up.
    fn check_invariants(&self) -> Result<(), String> {
        Ok(())
    }

    /// Whether it has sold or promised anything, so that it cannot be deleted. Orders are looked at beside it.
    fn is_in_use(&self) -> bool;

    /// The buyer whose attempt a command is, where refused attempts are kept: see [`crate::attempts`].
    fn attempt_by(_command: &Self::Command) -> Option<&BuyerId> {
        None
    }

    /// Far memory that a command will need when so many others came before it; only for what comes thousands of
    /// times a second. See [`Recall::far`](onsale_compact::recall::Recall::far).
    fn far(&self, _command: &Self::Command, _before: usize) -> [Option<&u32>; 2] {
        [None; 2]
    }

    /// Names everybody of whom a question could find something here, some of them twice.
    fn each_buyer(&self, _name: &mut dyn FnMut(&str)) {}

    /// Whom a question is about, if it is about one buyer.
    fn asks_about(_query: &Self::Query) -> Option<&BuyerId> {
        None
    }

    /// This state as something that orders can pay for.
    fn goods(&self) -> Option<&dyn Goods> {
        None
    }

    fn goods_mut(&mut self) -> Option<&mut dyn Goods> {
        None
    }

    /// What a fact means for the order that has taken or bought the goods.
    fn goods_change(_fact: &Self::Fact) -> Option<GoodsChange> {
        None
    }
}
