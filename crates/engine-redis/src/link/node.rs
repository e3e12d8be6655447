//! One server: a few connections that many callers share, opened when needed and again when they broke.
//! It sends each command once; who may send it again is decided in `send.rs`.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use redis::aio::{AsyncPushSender, MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ProtocolVersion, RedisError, Value};

use super::LinkError;
use super::config::Config;

/// Callers that come right after a refused connection get the same answer instead of knocking again.
const KNOCK_AGAIN: Duration = Duration::from_millis(20);
/// Commands that may wait for a connection's writer; the next ones wait in their callers.
const WAITING: usize = 1_024;
/// A connection on which nothing was answered for so long, though something was asked, is given up.
const SILENT: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct Node {
    name: String,
    client: Client,
    lanes: Box<[Lane]>,
    turn: AtomicUsize,
    connect: Duration,
    command: Duration,
    /// Set by the watch while the server cannot be used, with the moment since when.
    down: Mutex<Option<(Instant, LinkError)>>,
}

#[derive(Debug)]
struct Lane {
    live: Mutex<Option<Live>>,
    opening: tokio::sync::Mutex<Option<(Instant, LinkError)>>,
    /// Milliseconds since `born` at the last answer.
    answered: AtomicU64,
    born: Instant,
}

#[derive(Clone, Debug)]
struct Live {
    number: u64,
    connection: MultiplexedConnection,
}

/// What a node tells instead of an answer.
#[derive(Clone, Debug)]
pub(super) enum NodeError {
    /// Another node serves the slot.
    Moved(String),
    /// Another node is taking the slot over and has this key already.
    Ask(String),
    Failed(LinkError),
}

impl Node {
    pub(super) fn new(client: Client, config: &Config, lanes: usize) -> Node {
        let lane = || Lane {
            live: Mutex::new(None),
            opening: tokio::sync::Mutex::new(None),
            answered: AtomicU64::new(0),
            born: Instant::now(),
        };
        Node {
            name: name_of(client.get_connection_info().addr()),
            client,
            lanes: (0..lanes).map(|_| lane()).collect(),
            turn: AtomicUsize::new(0),
            connect: config.connect(),
            command: config.command(),
            down: Mutex::new(None),
        }
    }

    /// `host:port`, or the path of a socket.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends a command once and waits for its answer as long as the configuration says.
    pub async fn send(&self, command: &Cmd) -> Result<Value, LinkError> {
        self.send_within(command, self.command).await
    }

    /// The same with another patience, for what may take longer than a decision.
    pub async fn send_within(&self, command: &Cmd, patience: Duration) -> Result<Value, LinkError> {
        match self.exchange(command, false, patience).await {
            Ok(value) => Ok(value),
            Err(NodeError::Failed(error)) => Err(error),
            Err(NodeError::Moved(_) | NodeError::Ask(_)) => Err(LinkError::Moved { times: 1 }),
        }
    }

    /// Sends it once, unless the watch knows that nobody is there.
    pub(super) async fn decide(&self, command: &Cmd, asking: bool) -> Result<Value, NodeError> {
        if let Some((_, error)) = &*self.down.lock() {
            return Err(NodeError::Failed(error.clone()));
        }
        self.exchange(command, asking, self.command).await
    }

    async fn exchange(&self, command: &Cmd, asking: bool, patience: Duration) -> Result<Value, NodeError> {
        let lane = &self.lanes[self.turn.fetch_add(1, Ordering::Relaxed) % self.lanes.len()];
        let live = self.live(lane).await.map_err(NodeError::Failed)?;
        let mut connection = live.connection.clone();
        let exchange = async {
            if asking {
                let mut pair = redis::pipe();
                pair.cmd("ASKING").ignore().add_command(command.clone());
                let (answer,): (Value,) = pair.query_async(&mut connection).await?;
                return Ok(answer);
            }
            command.query_async::<Value>(&mut connection).await
        };
        match tokio::time::timeout(patience, exchange).await {
            Ok(Ok(value)) => {
                lane.answered.store(millis(lane.born), Ordering::Relaxed);
                Ok(value)
            }
            Ok(Err(error)) => {
                if error.is_io_error() || error.is_connection_dropped() || error.is_unrecoverable_error() {
                    lane.give_up(&live);
                } else {
                    lane.answered.store(millis(lane.born), Ordering::Relaxed);
                }
                Err(self.error_of(&error))
            }
            Err(_) => {
                let silent = millis(lane.born).saturating_sub(lane.answered.load(Ordering::Relaxed));
                if Duration::from_millis(silent) > SILENT {
                    lane.give_up(&live);
                }
                let why = format!("no answer within {} ms", patience.as_millis());
                Err(NodeError::Failed(LinkError::Unknown { node: self.name.clone(), why }))
            }
        }
    }

    fn error_of(&self, error: &RedisError) -> NodeError {
        if let Some((host, port)) = error.redirect_node() {
            // An empty host means: the one you are talking to.
            let host = if host.is_empty() { self.host() } else { host };
            let other = format!("{host}:{port}");
            return if error.code() == Some("ASK") { NodeError::Ask(other) } else { NodeError::Moved(other) };
        }
        NodeError::Failed(LinkError::of(&self.name, error))
    }

    pub(super) fn host(&self) -> &str {
        self.name.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host)
    }

    async fn live(&self, lane: &Lane) -> Result<Live, LinkError> {
        if let Some(live) = &*lane.live.lock() {
            return Ok(live.clone());
        }
        let mut failed = lane.opening.lock().await;
        if let Some(live) = &*lane.live.lock() {
            return Ok(live.clone());
        }
        if let Some((at, error)) = &*failed
            && at.elapsed() < KNOCK_AGAIN
        {
            return Err(error.clone());
        }
        match self.open(AsyncConnectionConfig::new()).await {
            Ok(connection) => {
                let live = Live { number: rand::random(), connection };
                lane.answered.store(millis(lane.born), Ordering::Relaxed);
                *lane.live.lock() = Some(live.clone());
                *failed = None;
                Ok(live)
            }
            Err(error) => {
                *failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    async fn open(&self, config: AsyncConnectionConfig) -> Result<MultiplexedConnection, LinkError> {
        // The patience of each command is counted where it is sent.
        let config = config
            .set_connection_timeout(Some(self.connect))
            .set_response_timeout(None)
            .set_pipeline_buffer_size(WAITING);
        let opened = self.client.get_multiplexed_async_connection_with_config(&config);
        match tokio::time::timeout(self.connect, opened).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(LinkError::opening(&self.name, &error)),
            Err(_) => {
                let why = format!("no connection within {} ms", self.connect.as_millis());
                Err(LinkError::Unreachable { node: self.name.clone(), why })
            }
        }
    }

    /// A connection of one's own, for what would hold up others: blocking reads, large answers, pushed messages.
    pub async fn connection(
        &self,
        config: AsyncConnectionConfig,
    ) -> Result<MultiplexedConnection, LinkError> {
        self.open(config).await
    }

    /// A connection of one's own that listens.
    pub async fn listener(&self) -> Result<PubSub, LinkError> {
        match tokio::time::timeout(self.connect, self.client.get_async_pubsub()).await {
            Ok(opened) => opened.map_err(|error| LinkError::opening(&self.name, &error)),
            Err(_) => {
                let why = format!("no connection within {} ms", self.connect.as_millis());
                Err(LinkError::Unreachable { node: self.name.clone(), why })
            }
        }
    }

    /// A connection of one's own on which the server pushes messages to `to` between its answers.
    pub async fn pushed(&self, to: impl AsyncPushSender) -> Result<MultiplexedConnection, LinkError> {
        let info = self.client.get_connection_info();
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let client = Client::open(info.clone().set_redis_settings(settings))
            .map_err(|error| LinkError::opening(&self.name, &error))?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.connect))
            .set_response_timeout(Some(self.command.max(self.connect)))
            .set_push_sender(to);
        match tokio::time::timeout(self.connect, client.get_multiplexed_async_connection_with_config(&config))
            .await
        {
            Ok(opened) => opened.map_err(|error| LinkError::opening(&self.name, &error)),
            Err(_) => {
                let why = format!("no connection within {} ms", self.connect.as_millis());
                Err(LinkError::Unreachable { node: self.name.clone(), why })
            }
        }
    }

    pub fn is_up(&self) -> bool {
        self.down.lock().is_none()
    }

    /// How long the watch has known that it cannot be used.
    pub(super) fn down_for(&self) -> Option<Duration> {
        self.down.lock().as_ref().map(|(since, _)| since.elapsed())
    }

    pub(super) fn set_up(&self) -> bool {
        self.down.lock().take().is_some()
    }

    /// Says whether that is news.
    pub(crate) fn set_down(&self, error: LinkError) -> bool {
        let mut down = self.down.lock();
        let since = down.as_ref().map(|(since, _)| *since);
        *down = Some((since.unwrap_or_else(Instant::now), error));
        since.is_none()
    }
}

impl Lane {
    /// The next caller opens another one; who got another one meanwhile keeps it.
    fn give_up(&self, broken: &Live) {
        let mut live = self.live.lock();
        if live.as_ref().is_some_and(|live| live.number == broken.number) {
            *live = None;
        }
    }
}

fn millis(born: Instant) -> u64 {
    u64::try_from(born.elapsed().as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn name_of(address: &ConnectionAddr) -> String {
    match address {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            format!("{host}:{port}")
        }
        ConnectionAddr::Unix(path) => path.display().to_string(),
        // The library may learn of other ways; we do not use them.
        _ => "unknown".to_owned(),
    }
}
