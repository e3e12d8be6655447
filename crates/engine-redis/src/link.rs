//! The one way to the Redis servers: finds the masters, sends each command to the one that has its slot, sends it
//! again where that is safe, and says exactly what went wrong. Everything else in this crate is pure or uses this.

mod complaint;
pub mod config;
mod error;
mod map;
mod node;
mod send;
pub mod slot;
mod start_timer;
mod watch;

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use redis::{Client, Cmd, ConnectionAddr, ConnectionInfo, TlsCertificates, Value};
use tokio::sync::{Notify, watch as channel};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use self::complaint::Complaint;
use self::config::Topology;
pub use self::config::{Config, HISTORY_MB};
pub use self::error::LinkError;
pub use self::map::Map;
pub use self::node::Node;
pub(crate) use self::start_timer::StartTimer;
use crate::scripts::Script;

/// Cheap to clone; the servers are watched until the last clone is gone.
#[derive(Clone, Debug)]
pub struct Link {
    inner: Arc<Inner>,
    _watched: Arc<DropGuard>,
}

#[derive(Debug)]
struct Inner {
    config: Config,
    map: ArcSwap<Map>,
    /// Every node that was ever named; connections of those that are gone close by themselves.
    nodes: Mutex<Vec<Arc<Node>>>,
    /// The servers of the configuration: the one, the sentinels, or some nodes of the Cluster.
    seeds: Vec<Arc<Node>>,
    /// How a node is reached that others told of: the first address of the configuration with another host.
    pattern: ConnectionInfo,
    certificates: Option<TlsCertificates>,
    nudged: Notify,
    looking: tokio::sync::Mutex<()>,
    changed: channel::Sender<u64>,
    looked: channel::Sender<u64>,
    stop: CancellationToken,
}

impl Link {
    /// Finds the masters; an error says why there is none.
    pub async fn open(config: impl Into<Config>) -> Result<Link, LinkError> {
        let config = config.into();
        config.check()?;
        let inner = Arc::new(Inner::new(config)?);
        watch::find(&inner).await?;
        watch::look(&inner).await;
        let link = Link { _watched: Arc::new(inner.stop.clone().drop_guard()), inner: inner.clone() };
        if inner.config.topology == Topology::Single {
            // A server that does not answer at the start is told at once; later the watch waits for it.
            inner.seeds[0].send(&redis::cmd("PING")).await?;
        }
        tokio::spawn(watch::run(inner));
        Ok(link)
    }

    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Calls a script by its SHA where KEYS\[1\] lives. It is sent again after trouble, so what it changes must be
    /// under an operation id.
    pub async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Value, LinkError> {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&script.sha).arg(keys.len()).arg(keys).arg(args);
        let slot = keys.first().map_or(0, |key| slot::slot(key.as_bytes()));
        send::to_slot(&self.inner, slot, &command).await
    }

    /// Sends a command to where a key lives. It may be sent again, so it must be one that can be done twice.
    pub async fn at(&self, key: &str, command: &Cmd) -> Result<Value, LinkError> {
        send::to_slot(&self.inner, slot::slot(key.as_bytes()), command).await
    }

    /// Sends a command without a key to the first master that can be used; it may be sent again.
    pub async fn query(&self, command: &Cmd) -> Result<Value, LinkError> {
        let map = self.map();
        let any = map.masters.iter().find(|master| master.is_up()).or(map.masters.first());
        let slot = any.and_then(|master| map.slots_of(master).next());
        send::to_slot(&self.inner, slot.unwrap_or(0), command).await
    }

    /// Loads scripts on every master.
    pub async fn load<'a>(
        &self,
        scripts: impl IntoIterator<Item = &'a Script, IntoIter: Clone>,
    ) -> Result<(), LinkError> {
        let scripts = scripts.into_iter();
        for master in &self.map().masters {
            for script in scripts.clone() {
                master.send(redis::cmd("SCRIPT").arg("LOAD").arg(&script.text)).await?;
            }
        }
        Ok(())
    }

    /// Who serves what, as far as we know now.
    pub fn map(&self) -> Arc<Map> {
        self.inner.map.load_full()
    }

    pub fn master_of(&self, key: &str) -> Option<Arc<Node>> {
        self.inner.master_of(slot::slot(key.as_bytes()))
    }

    /// A node by its name, master or not.
    pub fn node(&self, name: &str) -> Arc<Node> {
        self.inner.node(name)
    }

    /// Sentinels, or the nodes that the configuration names.
    pub fn seeds(&self) -> &[Arc<Node>] {
        &self.inner.seeds
    }

    /// Finds the masters again now. True: every slot has a master that answers.
    pub async fn look(&self) -> bool {
        watch::look(&self.inner).await
    }

    /// Counts how often a slot went to another master.
    pub fn changes(&self) -> channel::Receiver<u64> {
        self.inner.changed.subscribe()
    }

    /// Counts the looks of the watch: once a second, twenty times while something is wrong.
    pub fn looks(&self) -> channel::Receiver<u64> {
        self.inner.looked.subscribe()
    }

    /// Asks the watch to look now.
    pub fn nudge(&self) {
        self.inner.nudge();
    }
}

impl Inner {
    fn new(config: Config) -> Result<Inner, LinkError> {
        let certificates = certificates(&config)?;
        let infos = config.url.iter().map(|url| match config.topology {
            Topology::Sentinel => config.sentinel_info(url),
            Topology::Single | Topology::Cluster => config.info(url),
        });
        let infos = infos.collect::<Result<Vec<_>, _>>()?;
        let lanes = if config.topology == Topology::Sentinel { 1 } else { config.connections };
        let seeds = infos
            .into_iter()
            .map(|info| Ok(Arc::new(Node::new(client(info, certificates.as_ref())?, &config, lanes))))
            .collect::<Result<Vec<_>, LinkError>>()?;
        let pattern = config.info(&config.url[0])?;
        // Sentinels are no data nodes: their connections are not the ones of a node with the same address.
        let nodes = if config.topology == Topology::Sentinel { Vec::new() } else { seeds.clone() };
        Ok(Inner {
            map: ArcSwap::from_pointee(Map::default()),
            nodes: Mutex::new(nodes),
            seeds,
            pattern,
            certificates,
            nudged: Notify::new(),
            looking: tokio::sync::Mutex::new(()),
            changed: channel::Sender::new(0),
            looked: channel::Sender::new(0),
            stop: CancellationToken::new(),
            config,
        })
    }

    fn nudge(&self) {
        self.nudged.notify_one();
    }

    fn master_of(&self, slot: u16) -> Option<Arc<Node>> {
        self.map.load().master_of(slot).cloned()
    }

    /// The node of that name, known or new.
    fn node(&self, name: &str) -> Arc<Node> {
        let mut nodes = self.nodes.lock();
        if let Some(node) = nodes.iter().find(|node| node.name() == name) {
            return node.clone();
        }
        let (host, port) = name.rsplit_once(':').unwrap_or((name, "6379"));
        let (host, port) = (host.trim_matches(['[', ']']).to_owned(), port.parse().unwrap_or(6379));
        let mut address = ConnectionAddr::Tcp(host.clone(), port);
        if let ConnectionAddr::TcpTls { insecure, tls_params, .. } = self.pattern.addr() {
            let (insecure, tls_params) = (*insecure, tls_params.clone());
            address = ConnectionAddr::TcpTls { host, port, insecure, tls_params };
        }
        let info = self.pattern.clone().set_addr(address);
        // The certificates were read when the link was opened, so that this cannot fail any more for them.
        let client = client(info.clone(), self.certificates.as_ref()).or_else(|_| Client::open(info));
        let node = match client {
            Ok(client) => Arc::new(Node::new(client, &self.config, self.config.connections)),
            Err(_) => return self.seeds[0].clone(),
        };
        nodes.push(node.clone());
        node
    }
}

fn client(info: ConnectionInfo, certificates: Option<&TlsCertificates>) -> Result<Client, LinkError> {
    let made = match (info.addr(), certificates) {
        (ConnectionAddr::TcpTls { .. }, Some(certificates)) => {
            Client::build_with_tls(info, certificates.clone())
        }
        _ => Client::open(info),
    };
    made.map_err(|error| {
        LinkError::Config(format!("the address or its certificates cannot be used: {error}"))
    })
}

/// Read once; without a file of our own the system's authorities are asked.
fn certificates(config: &Config) -> Result<Option<TlsCertificates>, LinkError> {
    if config.url.iter().any(|url| url.starts_with("rediss:")) {
        // Only one cryptography library is compiled in; whoever chose it before us chose the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let Some(path) = &config.tls_ca else { return Ok(None) };
    let root_cert = std::fs::read(path).map_err(|error| {
        LinkError::Config(format!("redis.tls_ca {} cannot be read: {error}", path.display()))
    })?;
    Ok(Some(TlsCertificates { client_tls: None, root_cert: Some(root_cert) }))
}
