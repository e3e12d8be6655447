//! The state of whatever kind a listing is, and what readers see of it: one variant per kind, and each question handed on
//! to the kind. Nothing is decided here.

use crate::command::Command;
use crate::fact::Fact;
use crate::id::{ListingId, ListingKind};
use crate::kind::Kind;
use crate::kinds::each_kind;
use crate::order::Goods;
use crate::outcome::Outcome;
use crate::query::{Found, Query};
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;

macro_rules! body {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        #[derive(Clone, Debug)]
        pub enum Body {
            /// Nothing has happened yet: the listing does not exist for anybody.
            Nothing,
            $($(#[$doc])* $Kind(Box<$State>),)*
        }

        /// What readers see of a listing: immutable, and taken without asking the writer.
        #[derive(Clone, Debug)]
        pub enum BodyView {
            $($(#[$doc])* $Kind(<$State as Kind>::View),)*
        }

        impl Body {
            /// The facts that begin a listing of this kind.
            pub(super) fn create(kind: ListingKind, command: &Command, now: Millis) -> Result<Vec<Fact>, Refusal> {
                match (kind, command) {
                    $((ListingKind::$Kind, Command::$Kind(command)) => {
                        let created = <$State as Kind>::create(command, now)?;
                        Ok(created.into_iter().map(Fact::$Kind).collect())
                    })*
                    _ => Err(Refusal::of(Code::ListingUnknown)),
                }
            }

            pub(super) fn begin(id: ListingId, first: &Fact) -> Option<Body> {
                match first {
                    $(Fact::$Kind(first) => {
                        <$State as Kind>::begin(id, first).map(|state| Body::$Kind(Box::new(state)))
                    })*
                    Fact::Order(_) | Fact::Listing(_) => None,
                }
            }

            pub(super) fn execute(&mut self, command: &Command, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
                match (self, command) {
                    $((Body::$Kind(state), Command::$Kind(command)) => Kind::execute(&mut **state, command, writer),)*
                    $((Body::$Kind(state), Command::ExpireDue { limit }) => state.sweep(*limit, writer),)*
                    _ => Err(Refusal::of(Code::WrongKind)),
                }
            }

            /// False if the fact is of another kind.
            pub(super) fn apply(&mut self, fact: &Fact, fence: u64, at: Millis) -> bool {
                match (self, fact) {
                    $((Body::$Kind(state), Fact::$Kind(fact)) => Kind::apply(&mut **state, fact, fence, at),)*
                    _ => return false,
                }
                true
            }

            pub(super) fn next_due(&self) -> Option<Millis> {
                match self {
                    Body::Nothing => None,
                    $(Body::$Kind(state) => Kind::next_due(&**state),)*
                }
            }

            pub(super) fn view(&self) -> Option<BodyView> {
                match self {
                    Body::Nothing => None,
                    $(Body::$Kind(state) => Some(BodyView::$Kind(Kind::view(&**state))),)*
                }
            }

            pub(super) fn ask(&self, query: &Query, now: Millis) -> Found {
                match (self, query) {
                    $((Body::$Kind(state), Query::$Kind(query)) => Found::$Kind(Kind::ask(&**state, query, now)),)*
                    _ => Found::Nothing,
                }
            }

            pub(super) fn check_invariants(&self) -> Result<(), String> {
                match self {
                    Body::Nothing => Ok(()),
                    $(Body::$Kind(state) => Kind::check_invariants(&**state),)*
                }
            }

            /// Whether it has sold or promised anything; see [`crate::Kind::is_in_use`].
            pub(super) fn is_in_use(&self) -> bool {
                match self {
                    Body::Nothing => false,
                    $(Body::$Kind(state) => Kind::is_in_use(&**state),)*
                }
            }

            pub(super) fn far(&self, command: &Command, before: usize) -> [Option<&u32>; 2] {
                match (self, command) {
                    $((Body::$Kind(state), Command::$Kind(command)) => Kind::far(&**state, command, before),)*
                    _ => [None; 2],
                }
            }

            pub(super) fn each_buyer(&self, name: &mut dyn FnMut(&str)) {
                match self {
                    Body::Nothing => {}
                    $(Body::$Kind(state) => Kind::each_buyer(&**state, name),)*
                }
            }

            /// The state as something that orders can pay for.
            pub(crate) fn goods(&self) -> Option<&dyn Goods> {
                match self {
                    Body::Nothing => None,
                    $(Body::$Kind(state) => state.goods(),)*
                }
            }

            pub(crate) fn goods_mut(&mut self) -> Option<&mut dyn Goods> {
                match self {
                    Body::Nothing => None,
                    $(Body::$Kind(state) => state.goods_mut(),)*
                }
            }

            $(pub fn $name(&self) -> Option<&$State> {
                if let Body::$Kind(state) = self { Some(state) } else { None }
            })*
        }

        impl BodyView {
            pub fn kind(&self) -> ListingKind {
                match self {
                    $(BodyView::$Kind(_) => ListingKind::$Kind,)*
                }
            }

            /// When the clock ends the listing; none once a fact has ended it, or if no clock ever does.
            pub fn over_at(&self) -> Option<Millis> {
                match self {
                    $(BodyView::$Kind(view) => <$State as Kind>::over_at(view),)*
                }
            }

            $(pub fn $name(&self) -> Option<&<$State as Kind>::View> {
                if let BodyView::$Kind(view) = self { Some(view) } else { None }
            })*
        }

        impl super::Listing {
            $(pub fn $name(&self) -> Option<&$State> {
                self.body.$name()
            })*
        }
    };
}

each_kind!(body);
