//! The previous release as it stands in `tests/previous`: its scripts by fragments, what each is joined from, and the
//! calls that its servers made while they told the story.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use onsale_engine_redis::deployment::ScriptSet;
use onsale_engine_redis::layout::Layout;
use onsale_engine_redis::scripts::{Script, Scripts};

use super::words;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/previous")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One call of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    pub script: String,
    pub keys: Vec<String>,
    pub args: Vec<Vec<u8>>,
}

/// The calls of a whole story with what was told, and all facts that it left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tale {
    pub calls: Vec<(Call, String)>,
    pub facts: BTreeMap<String, String>,
}

/// The scripts of the previous release, by what `label` calls them.
#[derive(Debug)]
pub struct Previous(BTreeMap<String, Script>);

impl Previous {
    pub fn get(&self, label: &str) -> &Script {
        self.0.get(label).unwrap_or_else(|| panic!("the previous release has no {label}"))
    }
}

impl ScriptSet for Previous {
    fn of_generation(generation: &str) -> Previous {
        let list = read("scripts.txt");
        let scripts = list.lines().map(|line| {
            let (label, fragments) = line.split_once(": ").expect("a script and its fragments");
            let parts = fragments.split(' ').map(|name| read(&format!("lua/{name}.lua")) + "\n");
            (label.to_owned(), Script::new("previous", generation, &parts.collect::<String>()))
        });
        Previous(scripts.collect())
    }

    fn raise_epoch(generation: &str) -> Script {
        Script::new("raise_epoch", generation, &read("lua/recovery/raise_epoch.lua"))
    }
}

/// A script in the file of scripts; one without a layout stands there alone.
pub fn label(name: &str, layout: Layout) -> String {
    let (mut alone, with) = (false, format!("{}/{name}", layout.as_str()));
    each_source(|label, _| alone |= label == name);
    if alone { name.to_owned() } else { with }
}

fn each_source(see: impl FnMut(&str, &[&str])) {
    let see = RefCell::new(see);
    Scripts::of_texts("", |source| {
        let name = source.name();
        let label = source.layout.map_or(name.to_owned(), |layout| format!("{}/{name}", layout.as_str()));
        (see.borrow_mut())(&label, source.fragments);
        String::new()
    });
}

/// Reads a tale: a line for each call, one for each key and argument behind it, and the reply.
pub fn tale(layout: Layout) -> Tale {
    let mut tale = Tale::default();
    let mut call = Call::default();
    for line in read(&format!("{}.txt", layout.as_str())).lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "call" => call = Call { script: rest.to_owned(), ..Call::default() },
            "key" => call.keys.push(rest.to_owned()),
            "arg" => call.args.push(words::to_bytes(rest)),
            "told" => tale.calls.push((std::mem::take(&mut call), rest.to_owned())),
            "facts" => {
                let (listing, facts) = rest.split_once(' ').expect("a listing and its facts");
                tale.facts.insert(listing.to_owned(), facts.to_owned());
            }
            other => panic!("{other} is no kind of line"),
        }
    }
    tale
}

pub fn record(layout: Layout, tale: &Tale) {
    let mut text = String::new();
    for (call, told) in &tale.calls {
        text += &format!("call {}\n", call.script);
        call.keys.iter().for_each(|key| text += &format!("key {key}\n"));
        call.args.iter().for_each(|arg| text += &format!("arg {}\n", words::of_bytes(arg)));
        text += &format!("told {told}\n");
    }
    tale.facts.iter().for_each(|(listing, facts)| text += &format!("facts {listing} {facts}\n"));
    fs::write(folder().join(format!("{}.txt", layout.as_str())), text).expect("written");
}

/// Copies the fragments of this release, and what each script is joined from.
pub fn record_scripts() {
    let (from, to) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("lua"), folder().join("lua"));
    let _ = fs::remove_dir_all(&to);
    let mut lines = Vec::new();
    let mut names = vec!["recovery/raise_epoch".to_owned()];
    each_source(|label, fragments| {
        lines.push(format!("{label}: {}\n", fragments.join(" ")));
        names.extend(fragments.iter().map(|name| (*name).to_owned()));
    });
    for name in names {
        let (from, to) = (from.join(&name).with_extension("lua"), to.join(&name).with_extension("lua"));
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(from, to).expect("copied");
    }
    lines.sort();
    fs::write(folder().join("scripts.txt"), lines.concat()).expect("written");
}
