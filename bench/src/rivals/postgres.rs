//! PostgreSQL with its defaults, fsync on: one prepared update for each hold, fresh rows, over a Unix socket,
//! driven by our own client and by pgbench.

mod client;
mod cluster;
mod hot_row;
mod tool;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use crate::contest::Contestant;
use cluster::Cluster;

const CONNECTIONS: usize = 32;

/// One cluster, shared by everybody who drives it.
type Shared = Rc<RefCell<Cluster>>;

pub(crate) fn contestants(folder: &Path) -> Vec<Box<dyn Contestant>> {
    let cluster = Rc::new(RefCell::new(Cluster::new(folder.join("postgres"))));
    vec![
        Box::new(client::OwnClient { cluster: Rc::clone(&cluster) }),
        Box::new(hot_row::HotRow { cluster: Rc::clone(&cluster) }),
        Box::new(tool::PgBench { cluster }),
    ]
}

const SUBJECT: &str = "postgres_hold";
