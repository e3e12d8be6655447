//! The Lua scripts, joined from their fragments when this crate is compiled. Their first line names the
//! generation, so that a script's SHA stands for one deployment: who has forgotten it may have forgotten more.
//! Other texts can stand in for them, so that tests have those of another release, or broken ones.

use crate::layout::Layout;

pub use self::kinds::{AuctionVerb, DeskVerb, RegistrationVerb, SaleVerb, SeriesVerb};

/// A script as a server keeps it: called by its SHA only, never sent with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub name: &'static str,
    pub text: String,
    pub sha: String,
}

impl Script {
    pub fn new(name: &'static str, generation: &str, body: &str) -> Script {
        let text = format!("-- generation {generation}\n{body}");
        let sha = redis::Script::new(&text).get_hash().to_owned();
        Script { name, text, sha }
    }
}

/// What a script is joined from.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The layout of seats that it knows; none: it is no script of seats.
    pub layout: Option<Layout>,
    /// Files below `lua`, in their order. The last one has the verb.
    pub fragments: &'static [&'static str],
    /// Joined when this crate was compiled.
    pub text: &'static str,
}

impl Source {
    pub fn name(&self) -> &'static str {
        self.fragments.last().copied().unwrap_or_default()
    }

    const fn of(self, layout: Layout) -> Source {
        Source { layout: Some(layout), ..self }
    }
}

macro_rules! lua {
    ($($file:literal)*) => {
        Source {
            layout: None,
            fragments: &[$($file,)*],
            text: concat!($(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lua/", $file, ".lua")), "\n",)*),
        }
    };
}

mod kinds;

/// The fragments of one layout around one verb, in their order; one opens the listing in its own way.
macro_rules! verb {
    (hash [] $($file:literal)*) => { verb!(hash ["lib/open" "lib/head"] $($file)*) };
    (hash [$($early:literal)+] $($file:literal)*) => {
        lua!("lib/layout_hash" $($early)* "lib/replay" "lib/exists" "lib/codes" "lib/later" "lib/rules" "lib/lines"
            "lib/seats_hash" "lib/ids_hash" "lib/ended" "lib/queue" "lib/areas" "lib/due_hash" "lib/apply"
            "lib/order_ends" "lib/expire" "lib/log" "lib/commit" "lib/answers" "lib/holds" $($file)*)
    };
    (compact [] $($file:literal)*) => { verb!(compact ["lib/open" "lib/head" "lib/pack"] $($file)*) };
    (compact [$($early:literal)+] $($file:literal)*) => {
        lua!("lib/layout_compact" $($early)* "lib/replay" "lib/exists" "lib/codes" "lib/later" "lib/rules" "lib/lines"
            "lib/seats_compact" "lib/ids_compact" "lib/ended" "lib/queue" "lib/areas" "lib/due_compact"
            "lib/apply" "lib/order_ends" "lib/expire" "lib/log" "lib/commit" "lib/answers" "lib/holds" $($file)*)
    };
}

macro_rules! verbs {
    ($($name:ident: $([$($small:literal)*] [$($large:literal)*])? $($file:literal)*;)*) => {
        /// Every script there is; those of seats once for each layout.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Name {
            $($name,)*
            PlacePlainHold,
            CreateEvent,
            CreateVenue,
            PublishLayout,
            RefuseCommand,
            ReadState,
            Sale(SaleVerb),
            Series(SeriesVerb),
            Registration(RegistrationVerb),
            Auction(AuctionVerb),
            Desk(DeskVerb),
        }

        impl Name {
            const OF_SEATS: &[Name] = &[$(Name::$name,)*];

            /// The place of a verb of seats among its kind.
            fn place(self) -> Option<usize> {
                Name::OF_SEATS.iter().position(|known| *known == self)
            }
        }

        const HASH: &[Source] = &[$(verb!(hash [$($($small)*)?] $($file)*).of(Layout::Hash),)*];
        const COMPACT: &[Source] = &[$(verb!(compact [$($($large)*)?] $($file)*).of(Layout::Compact),)*];
    };
}

verbs! {
    PlaceHold: [] ["lib/open_compact" "lib/head" "lib/pack" "lib/plain_hold_compact"] "place_hold";
    ExtendHold: "lib/order_guard" "lib/order_guard_hold" "extend_hold";
    DropSeats: "lib/order_guard" "lib/order_guard_hold" "drop_seats";
    ReleaseHold: "lib/order_guard" "lib/order_guard_hold" "release_hold";
    ConfirmHold: "lib/order_guard" "lib/order_guard_hold" "lib/confirm" "confirm_hold";
    OverrideHold: "override_hold";
    RefundOrder: "lib/refund" "lib/order_guard" "lib/order_book" "refund_order";
    BlockSeats: "lib/blocks" "block_seats";
    UnblockSeats: "lib/blocks" "unblock_seats";
    JoinQueue: "lib/places" "join_queue";
    LeaveQueue: "lib/places" "leave_queue";
    ChangeStatus: "change_status";
    ChangeEvent: "lib/args" "change_event";
    AdoptChart: "lib/args" "adopt_chart";
    ExpireDue: "lib/refund" "lib/order_guard" "lib/order_book" "expire_due";
    RefuseKind: "refuse_kind";
    PlaceOrder: "lib/order_guard" "lib/order_book" "lib/confirm" "lib/order_holds" "place_order";
    PayOrder: "lib/order_guard" "lib/order_book" "lib/confirm" "lib/order_holds" "lib/order_paying" "pay_order";
    CancelOrder: "lib/order_guard" "lib/order_book" "lib/confirm" "lib/order_holds" "lib/order_paying" "cancel_order";
    NotePayment: "lib/order_guard" "lib/order_book" "lib/confirm" "lib/order_holds" "note_payment";
    NoteRefund: "lib/order_guard" "lib/order_book" "note_refund";
}

const CREATE_HASH: Source = lua!("lib/layout_hash" "lib/open" "lib/head" "lib/replay" "lib/args" "lib/write_new" "lib/new_hash" "create_event").of(Layout::Hash);
const CREATE_COMPACT: Source = lua!("lib/layout_compact" "lib/open" "lib/head" "lib/replay" "lib/args" "lib/write_new" "lib/new_compact" "create_event").of(Layout::Compact);
const CREATE_VENUE: Source =
    lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/write_new" "create_venue");
const PUBLISH_LAYOUT: Source = lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "publish_layout");
const REFUSE_COMMAND: Source = lua!("lib/open" "lib/head" "lib/replay" "refuse_command");
const PLACE_PLAIN_HOLD: Source = lua!("place_plain_hold");
const READ_STATE: Source = lua!("read_state");

/// All scripts of one generation.
#[derive(Clone, Debug)]
pub struct Scripts {
    hash: Vec<Script>,
    compact: Vec<Script>,
    place_plain_hold: Script,
    create_hash: Script,
    create_compact: Script,
    create_venue: Script,
    publish_layout: Script,
    refuse_command: Script,
    read_state: Script,
    sales: Vec<Script>,
    series: Vec<Script>,
    registrations: Vec<Script>,
    auctions: Vec<Script>,
    desks: Vec<Script>,
}

impl Scripts {
    pub fn of_generation(generation: &str) -> Scripts {
        Scripts::of_texts(generation, |source| source.text.to_owned())
    }

    /// The same scripts with texts of another origin.
    pub fn of_texts(generation: &str, text: impl Fn(&Source) -> String) -> Scripts {
        let script = |source: &Source| Script::new(source.name(), generation, &text(source));
        Scripts {
            hash: HASH.iter().map(script).collect(),
            compact: COMPACT.iter().map(script).collect(),
            place_plain_hold: script(&PLACE_PLAIN_HOLD),
            create_hash: script(&CREATE_HASH),
            create_compact: script(&CREATE_COMPACT),
            create_venue: script(&CREATE_VENUE),
            publish_layout: script(&PUBLISH_LAYOUT),
            refuse_command: script(&REFUSE_COMMAND),
            read_state: script(&READ_STATE),
            sales: kinds::SALES.iter().map(script).collect(),
            series: kinds::SERIES.iter().map(script).collect(),
            registrations: kinds::REGISTRATIONS.iter().map(script).collect(),
            auctions: kinds::AUCTIONS.iter().map(script).collect(),
            desks: kinds::DESKS.iter().map(script).collect(),
        }
    }

    /// The script of this name that knows the listing's layout.
    pub fn get(&self, name: Name, layout: Layout) -> &Script {
        match (name, layout) {
            (Name::PlacePlainHold, _) => &self.place_plain_hold,
            (Name::CreateEvent, Layout::Hash) => &self.create_hash,
            (Name::CreateEvent, Layout::Compact) => &self.create_compact,
            (Name::CreateVenue, _) => &self.create_venue,
            (Name::PublishLayout, _) => &self.publish_layout,
            (Name::RefuseCommand, _) => &self.refuse_command,
            (Name::ReadState, _) => &self.read_state,
            (Name::Sale(verb), _) => &self.sales[verb as usize],
            (Name::Series(verb), _) => &self.series[verb as usize],
            (Name::Registration(verb), _) => &self.registrations[verb as usize],
            (Name::Auction(verb), _) => &self.auctions[verb as usize],
            (Name::Desk(verb), _) => &self.desks[verb as usize],
            (verb, Layout::Hash) => &self.hash[verb.place().unwrap_or_default()],
            (verb, Layout::Compact) => &self.compact[verb.place().unwrap_or_default()],
        }
    }

    /// In the order in which they are loaded.
    pub fn iter(&self) -> impl Iterator<Item = &Script> + Clone {
        let rest = [
            &self.place_plain_hold,
            &self.create_hash,
            &self.create_compact,
            &self.create_venue,
            &self.publish_layout,
            &self.refuse_command,
            &self.read_state,
        ];
        self.hash
            .iter()
            .chain(&self.compact)
            .chain(rest)
            .chain(&self.sales)
            .chain(&self.series)
            .chain(&self.registrations)
            .chain(&self.auctions)
            .chain(&self.desks)
    }
}
