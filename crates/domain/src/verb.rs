//! One declaration per verb: its name, whether a yes to it may ever be lost, whether it begins a listing.
//! Metrics, idempotency, scripts and documents take it from here; nobody keeps a second list.

use crate::limits::{KEY_MS, SEALED_KEY_MS};
use crate::time::Millis;

/// What there is to know of a verb without looking at a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Verb {
    /// The same in metrics, logs, scripts and documents.
    pub name: &'static str,
    /// Whether a yes may never be lost, whatever store forgets.
    pub sealed: bool,
    /// Whether it is the first command of a listing.
    pub creates: bool,
}

impl Verb {
    pub(crate) const fn creates(name: &'static str) -> Verb {
        Verb { name, sealed: true, creates: true }
    }

    pub(crate) const fn sealed(name: &'static str) -> Verb {
        Verb { name, sealed: true, creates: false }
    }

    pub(crate) const fn unsealed(name: &'static str) -> Verb {
        Verb { name, sealed: false, creates: false }
    }

    /// How long the answer is remembered under its idempotency key.
    pub const fn key_ms(&self) -> Millis {
        if self.sealed { SEALED_KEY_MS } else { KEY_MS }
    }
}

/// Declares the commands of a kind, each with its verb: `PlaceHold(PlaceHold) = unsealed "place_hold"`.
macro_rules! commands {
    (
        $(#[$outer:meta])*
        pub enum $Command:ident {
            $(
                $(#[$meta:meta])*
                $Variant:ident $(($Body:ty))? $({ $($(#[$of_field:meta])* $field:ident: $Type:ty,)* })?
                    = $seal:ident $name:literal,
            )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Command {
            $($(#[$meta])* $Variant $(($Body))? $({ $($(#[$of_field])* $field: $Type,)* })?,)*
        }

        impl $Command {
            /// Every verb, in the order of the commands.
            pub const VERBS: &'static [$crate::verb::Verb] = &[$($crate::verb::Verb::$seal($name),)*];

            pub fn verb(&self) -> &'static $crate::verb::Verb {
                match self {
                    $(Self::$Variant { .. } => const { &$crate::verb::Verb::$seal($name) },)*
                }
            }
        }
    };
}

/// Gives the facts of a kind their public names, in the order of their numbers in the journal.
macro_rules! fact_names {
    ($Fact:ident { $($Variant:ident = $name:literal,)* }) => {
        impl $Fact {
            /// Public names of all facts, by their number in the journal.
            pub const KINDS: &'static [&'static str] = &[$($name,)*];

            /// The number under which the journal has this fact.
            pub fn kind_number(&self) -> usize {
                enum Number { $($Variant,)* }
                match self {
                    $($Fact::$Variant { .. } => Number::$Variant as usize,)*
                }
            }

            /// The public name, the same in JSON, streams and metrics.
            pub fn kind(&self) -> &'static str {
                $Fact::KINDS[self.kind_number()]
            }
        }
    };
}

pub(crate) use {commands, fact_names};
