//! Redis as a seat lock: a corrected Lua script, the AOF flushed always or every second,
//! driven by our own client and by redis-benchmark. Lock and release count as one operation each, as with us.

mod client;
mod instance;
pub(crate) mod resp;
mod tool;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use crate::contest::Contestant;
pub(crate) use instance::{Instance, ask, config};

/// As many as a pool of application servers would hold open.
const CONNECTIONS: usize = 50;
const PIPELINES: [usize; 2] = [1, 16];

/// Whether every write is flushed before it is answered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flush {
    Always,
    EverySecond,
}

impl Flush {
    fn word(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::EverySecond => "everysec",
        }
    }
}

/// One instance for each way of flushing, shared by everybody who drives it.
type Shared = Rc<RefCell<Instance>>;

pub(crate) fn contestants(folder: &Path) -> Vec<Box<dyn Contestant>> {
    let mut all: Vec<Box<dyn Contestant>> = Vec::new();
    for flush in [Flush::Always, Flush::EverySecond] {
        let folder = folder.join(format!("redis-{}", flush.word()));
        let instance = Rc::new(RefCell::new(Instance::new(flush, folder)));
        for pipeline in PIPELINES {
            all.push(Box::new(client::OwnClient::new(Rc::clone(&instance), flush, pipeline)));
            all.push(Box::new(tool::RedisBenchmark::new(Rc::clone(&instance), flush, pipeline)));
        }
    }
    all
}

fn subject(flush: Flush, pipeline: usize) -> String {
    format!("redis_{}_p{pipeline}", flush.word())
}
