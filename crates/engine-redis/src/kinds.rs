//! One folder per kind of listing, all of one shape: [`OnRedis`]. Whoever needs "whatever kind it is" asks the functions
//! below; they are made from the domain's own list of kinds.

mod auction;
pub(crate) mod desk;
mod event;
mod registration;
mod sale;
mod series;
mod venue;

use onsale_domain::listing::{ListingFact, Parts};
use onsale_domain::order::OrderFact;
use onsale_domain::{Code, Command, Fact, Kind, ListingKind, Millis, Refusal, each_kind};

use crate::commands::{Args, ScriptArgs, Terms, orders, own, refused};
use crate::facts::{self, Fields, Malformed};
use crate::keys::MARKER;
use crate::picture::Picture;
use crate::scripts::Source;
use crate::state::State;

/// How many fields of a head are a kind's own.
pub(crate) const OWN_HEAD: usize = 6;
/// A field of the head that a kind has no use for.
pub(crate) const UNUSED: &str = "_";

/// What the port has to know of a kind beside its rules: its keys, its scripts, and how it is written down.
pub(crate) trait OnRedis: Kind {
    /// Names of its keys by their place (`keys.rs`), where they are not called as an event's are.
    const KEYS: &'static [(usize, &'static str)];
    /// The keys that its short script takes, by their place.
    const PLAIN_KEYS: &'static [usize] = &[];
    /// Keys that are sorted sets here and hashes elsewhere.
    const SORTED: &'static [usize] = &[];
    /// Keys that may be there without a listing (`lua/lib/vacant.lua`): a marker is a hint, and ends by itself.
    const LOOSE: &'static [usize] = &[MARKER];
    /// The layouts that its head may name.
    const LAYOUTS: &'static [&'static str];
    /// What the last fields of its head are called, in Lua as in Rust.
    const HEAD: [&'static str; OWN_HEAD] = [UNUSED; OWN_HEAD];
    /// The goods that orders take here, as the book names them.
    const GOODS: Option<&'static str> = None;
    const SCRIPTS: &'static [Source];
    /// Facts that replace the details, and those that replace the chart: scripts compare the versions of both.
    const DETAILS: &'static [&'static str] = &[];
    const CHARTS: &'static [&'static str] = &[];

    /// A command as the arguments of its script. `now` is the clock that a choice of best seats is made at.
    fn prepare(picture: &Picture, command: &Self::Command, now: Millis, terms: &Terms) -> ScriptArgs;

    /// The sweep, for at most so many deadlines.
    fn expire_due(picture: &Picture, limit: u32, _now: Millis, _terms: &Terms) -> ScriptArgs {
        let mut args = Args::default();
        args.push(limit);
        args.script("expire_due", picture)
    }

    /// The short script for what most buyers ask, and the fact that its yes means.
    fn plain(_picture: &Picture, _command: &Self::Command) -> Option<(ScriptArgs, Self::Fact)> {
        None
    }

    /// The fact of a plain yes; `told` is what the script knows better than its caller.
    fn plain_fact(_asked: &Self::Fact, _told: &[i64]) -> Option<Self::Fact> {
        None
    }

    /// A fact's fields behind its name, in the order in which they stand in the stream.
    fn encode(fact: &Self::Fact, fields: &mut Fields);

    /// Reads what `encode` or a script wrote.
    fn decode(name: &str, fields: &Fields) -> Result<Self::Fact, Malformed>;

    fn image(state: &State) -> Result<Self::Image, Malformed>;

    /// Counts again what Redis keeps twice; the error says what does not add up.
    fn check(_state: &State) -> Result<(), String> {
        Ok(())
    }
}

macro_rules! of_kind {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        /// Prepares a command for the script of its listing.
        pub(crate) fn prepare(picture: &Picture, command: &Command, now: Millis, terms: &Terms) -> ScriptArgs {
            let kind = picture.listing.id.kind;
            match (kind, command) {
                $((ListingKind::$Kind, Command::$Kind(command)) => {
                    <$State as OnRedis>::prepare(picture, command, now, terms)
                })*
                $((ListingKind::$Kind, Command::ExpireDue { limit }) => {
                    <$State as OnRedis>::expire_due(picture, *limit, now, terms)
                })*
                (_, Command::Create(creation)) => own::create(picture, creation, now, terms),
                (_, Command::Listing(command)) => own::prepare(picture, command),
                (_, Command::Order(command)) => match goods(kind) {
                    Some(goods) => orders::prepare(picture, command, goods),
                    None => refused(Refusal::of(Code::WrongKind), ""),
                },
                _ => refused(Refusal::of(Code::WrongKind), ""),
            }
        }

        /// The short script for what most buyers ask, and the fact that its yes means; none if all the rules are needed.
        pub(crate) fn plain(picture: &Picture, command: &Command) -> Option<(ScriptArgs, Fact)> {
            match (picture.listing.id.kind, command) {
                $((ListingKind::$Kind, Command::$Kind(command)) => {
                    let (args, fact) = <$State as OnRedis>::plain(picture, command)?;
                    Some((args, Fact::$Kind(fact)))
                })*
                _ => None,
            }
        }

        pub(crate) fn plain_fact(asked: &Fact, told: &[i64]) -> Option<Fact> {
            match asked {
                $(Fact::$Kind(asked) => <$State as OnRedis>::plain_fact(asked, told).map(Fact::$Kind),)*
                Fact::Listing(_) | Fact::Order(_) => None,
            }
        }

        pub(crate) fn encode(fact: &Fact, fields: &mut Fields) {
            match fact {
                $(Fact::$Kind(fact) => <$State as OnRedis>::encode(fact, fields),)*
                Fact::Listing(fact) => facts::listing::encode(fact, fields),
                Fact::Order(fact) => facts::orders::encode(fact, fields),
            }
        }

        /// Reads the fact of this name.
        pub(crate) fn decode(name: &str, fields: &Fields) -> Result<Fact, Malformed> {
            $(if <$State as Kind>::Fact::KINDS.contains(&name) {
                return <$State as OnRedis>::decode(name, fields).map(Fact::$Kind);
            })*
            if ListingFact::KINDS.contains(&name) {
                return facts::listing::decode(name, fields).map(Fact::Listing);
            }
            if OrderFact::KINDS.contains(&name) {
                return facts::orders::decode(name, fields).map(Fact::Order);
            }
            Err(Malformed::of("kind"))
        }

        pub(crate) fn parts(kind: ListingKind, state: &State) -> Result<Parts, Malformed> {
            match kind {
                $(ListingKind::$Kind => <$State as OnRedis>::image(state).map(|it| Parts::$Kind(Box::new(it))),)*
            }
        }

        pub(crate) fn check(kind: ListingKind, state: &State) -> Result<(), String> {
            match kind {
                $(ListingKind::$Kind => <$State as OnRedis>::check(state),)*
            }
        }

        /// Every script that belongs to a kind, once for each layout that it knows.
        pub(crate) fn scripts() -> impl Iterator<Item = (ListingKind, &'static Source)> {
            let all = [$((ListingKind::$Kind, <$State as OnRedis>::SCRIPTS),)*];
            all.into_iter().flat_map(|(kind, sources)| sources.iter().map(move |source| (kind, source)))
        }
    };
}

each_kind!(of_kind);

/// A function that gives a constant of a kind.
macro_rules! constants {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        constants!(@each [$($Kind $State,)*]
            goods GOODS Option<&'static str>;
            own_keys KEYS &'static [(usize, &'static str)];
            plain_keys PLAIN_KEYS &'static [usize];
            sorted SORTED &'static [usize];
            loose LOOSE &'static [usize];
            layouts LAYOUTS &'static [&'static str];
            head HEAD [&'static str; OWN_HEAD];
            details DETAILS &'static [&'static str];
            charts CHARTS &'static [&'static str];
        );
    };
    (@each $kinds:tt $($function:ident $NAME:ident $Type:ty;)*) => {
        $(constants!(@one $kinds $function $NAME $Type);)*
    };
    (@one [$($Kind:ident $State:ty,)*] $function:ident $NAME:ident $Type:ty) => {
        pub(crate) fn $function(kind: ListingKind) -> $Type {
            match kind {
                $(ListingKind::$Kind => <$State as OnRedis>::$NAME,)*
            }
        }
    };
}

each_kind!(constants);
