//! The Lua scripts, joined from their fragments when this crate is compiled. Their first line names the
//! generation, so that a script's SHA stands for one deployment: who has forgotten it may have forgotten more.

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

/// All scripts of one generation.
#[derive(Clone, Debug)]
pub struct Scripts {
    all: Vec<Script>,
}

impl Scripts {
    pub fn of_generation(_generation: &str) -> Scripts {
        Scripts { all: Vec::new() }
    }

    /// In the order in which they are loaded.
    pub fn iter(&self) -> impl Iterator<Item = &Script> {
        self.all.iter()
    }
}
