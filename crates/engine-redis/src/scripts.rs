//! The Lua scripts, joined from their fragments when this crate is compiled; `numbers` puts in what the domain knows. Their
//! first line names the generation, so that a script's SHA stands for one deployment: who has forgotten it may have
//! forgotten more. Other texts can stand in for them, so that tests have broken ones.

mod numbers;

use std::collections::BTreeMap;

use onsale_domain::ListingKind;

use crate::kinds;
use crate::layout::Layout;

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
    /// The layout of seats that it knows; none: any.
    pub layout: Option<Layout>,
    /// Files below `lua`, in their order. The last one has the verb.
    pub fragments: &'static [&'static str],
    /// Joined when this crate was compiled.
    pub text: &'static str,
}

impl Source {
    /// The file of the verb: `sale/checkout`.
    pub fn file(&self) -> &'static str {
        self.fragments.last().copied().unwrap_or_default()
    }

    fn verb(&self) -> &'static str {
        let file = self.file();
        file.rsplit_once('/').map_or(file, |(_, verb)| verb)
    }

    pub(crate) const fn of(self, layout: Layout) -> Source {
        Source { layout: Some(layout), ..self }
    }
}

/// A script of files below `lua`.
macro_rules! lua {
    ($($file:literal)*) => {
        $crate::scripts::Source {
            layout: None,
            fragments: &[$($file,)*],
            text: concat!($(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lua/", $file, ".lua")), "\n",)*),
        }
    };
}
pub(crate) use lua;

/// The name of a script: a verb of the domain over the fragments of a kind, or one of the few that are for every kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    kind: Option<ListingKind>,
    verb: &'static str,
}

impl Name {
    /// The whole state of a listing at one moment.
    pub const READ_STATE: Name = Name { kind: None, verb: "read_state" };
    /// A command that no state could make sense of.
    pub const REFUSE_COMMAND: Name = Name { kind: None, verb: "refuse_command" };

    /// The script that decides a verb in a listing of this kind: each is called as its verb is.
    pub const fn of(kind: ListingKind, verb: &'static str) -> Name {
        Name { kind: Some(kind), verb }
    }
}

const OF_EVERY_KIND: [Source; 2] =
    [lua!("lib/open" "lib/head" "lib/replay" "refuse_command"), lua!("read_state")];

/// All scripts of one generation.
#[derive(Clone, Debug)]
pub struct Scripts {
    all: Vec<Script>,
    /// Where a script is among them.
    places: BTreeMap<(Name, Layout), usize>,
}

impl Scripts {
    pub fn of_generation(generation: &str) -> Scripts {
        Scripts::of_texts(generation, |source| source.text.to_owned())
    }

    /// The same scripts with texts of another origin.
    pub fn of_texts(generation: &str, text: impl Fn(&Source) -> String) -> Scripts {
        let (mut all, mut places) = (Vec::new(), BTreeMap::new());
        let of_kinds = kinds::scripts().map(|(kind, source)| (Some(kind), source));
        for (kind, source) in of_kinds.chain(OF_EVERY_KIND.iter().map(|source| (None, source))) {
            for layout in source.layout.map_or(Layout::ALL.to_vec(), |layout| vec![layout]) {
                places.insert((Name { kind, verb: source.verb() }, layout), all.len());
            }
            all.push(Script::new(source.file(), generation, &numbers::put_in(&text(source), kind)));
        }
        Scripts { all, places }
    }

    /// The script of this name that knows the listing's layout.
    pub fn get(&self, name: Name, layout: Layout) -> &Script {
        match self.places.get(&(name, layout)) {
            Some(place) => &self.all[*place],
            None => panic!("every verb has a script, but {name:?} of layout {layout:?} has none"),
        }
    }

    pub fn has(&self, name: Name, layout: Layout) -> bool {
        self.places.contains_key(&(name, layout))
    }

    /// In the order in which they are loaded.
    pub fn iter(&self) -> impl Iterator<Item = &Script> + Clone {
        self.all.iter()
    }
}
