//! What a Redis server or the way to it may say instead of an answer, each with what to do next.

use onsale_engine::EngineError;
use redis::{ErrorKind, RedisError};
use thiserror::Error;

/// Lower-case sentences; behind the semicolon stands what to do next.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LinkError {
    #[error("{0}")]
    Config(String),
    /// Nothing was sent, so nothing was decided.
    #[error("no redis server answers at {node}: {why}; is it running and may this machine reach it?")]
    Unreachable { node: String, why: String },
    /// It was sent and may have been done.
    #[error("{node} did not answer: {why}; send the same again under the same operation id")]
    Unknown { node: String, why: String },
    #[error("{node} shows a certificate that is not trusted: {why}; see redis.tls_ca")]
    Untrusted { node: String, why: String },
    #[error("{node} refuses user or password: {why}; see redis.user and redis.password, or the ACL")]
    Denied { node: String, why: String },
    /// `NOSCRIPT`: whoever forgot its scripts may have forgotten more.
    #[error("{node} has forgotten its scripts and may have forgotten more; it is being recovered")]
    Forgotten { node: String },
    #[error("a node is being recovered; try again in a moment")]
    Recovering,
    #[error("{node} is a replica and takes no writes; a failover is under way, or redis.url names a replica")]
    ReadOnly { node: String },
    #[error("{node} is out of memory; raise maxmemory or remove what is old, it goes on by itself")]
    OutOfMemory { node: String },
    #[error("{node} is loading its data after a start; it goes on by itself")]
    Loading { node: String },
    #[error("{node} is busy with a slow script; `SCRIPT KILL` ends one that has written nothing")]
    Busy { node: String },
    #[error(
        "{node} has too few replicas in step (min-replicas-to-write) and refuses writes; start them and it goes on by \
         itself, or set min-replicas-to-write 0 if it shall have none"
    )]
    NoReplicas { node: String },
    #[error("{node} cannot write its data to disk: {why}; look at its log and its disk")]
    CannotSave { node: String, why: String },
    #[error(
        "the cluster does not serve this slot: {why}; a failover is under way, or `onsale doctor` says what is missing"
    )]
    ClusterDown { why: String },
    #[error("the slot went from node to node {times} times; the cluster does not agree who serves it yet")]
    Moved { times: u32 },
    #[error("the slot is moving to another node with its keys; it goes on when they are there")]
    Moving,
    #[error("a script was given keys of several slots: {why}; this is a mistake of ours")]
    CrossSlot { why: String },
    #[error(
        "a key under our prefix has another type: {why}; `onsale doctor` names it: find out who wrote it, or set another \
         redis.prefix"
    )]
    WrongType { why: String },
    /// One listing cannot be read or decided; all others can.
    #[error(
        "`{key}` {what}; find out who wrote it and put the listing's own key back, `onsale doctor` names all of them"
    )]
    Damaged { key: String, what: String },
    #[error("a command was refused: {why}")]
    Refused { why: String },
}

/// What makes an error go away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cure {
    /// A moment, so that the same is sent again at once.
    Moment,
    /// Longer than a request may wait, but nobody has to do anything.
    Time,
    /// Somebody who puts settings or passwords right.
    People,
    /// Nothing: the listing or we are damaged.
    Nothing,
}

impl LinkError {
    pub(crate) fn cure(&self) -> Cure {
        use LinkError as E;
        match self {
            E::Unreachable { .. } | E::Unknown { .. } | E::ReadOnly { .. } => Cure::Moment,
            E::ClusterDown { .. } | E::Moving | E::Moved { .. } => Cure::Moment,
            E::Forgotten { .. } | E::Recovering | E::OutOfMemory { .. } | E::Loading { .. } => Cure::Time,
            E::Busy { .. } | E::NoReplicas { .. } | E::CannotSave { .. } => Cure::Time,
            E::Config(_) | E::Untrusted { .. } | E::Denied { .. } => Cure::People,
            E::CrossSlot { .. } | E::WrongType { .. } | E::Damaged { .. } | E::Refused { .. } => {
                Cure::Nothing
            }
        }
    }

    /// Whether the same, sent again, may work in a moment without anybody doing anything.
    pub fn is_retryable(&self) -> bool {
        matches!(self.cure(), Cure::Moment | Cure::Time)
    }

    /// What `node` said, or what became of the way to it.
    pub(crate) fn of(node: &str, error: &RedisError) -> LinkError {
        let node = node.to_owned();
        let why = error.detail().map_or_else(|| error.to_string(), str::to_owned);
        match error.code() {
            Some("NOSCRIPT") => return LinkError::Forgotten { node },
            Some("READONLY") => return LinkError::ReadOnly { node },
            Some("OOM") => return LinkError::OutOfMemory { node },
            Some("LOADING") | Some("MASTERDOWN") => return LinkError::Loading { node },
            Some("BUSY") => return LinkError::Busy { node },
            Some("NOREPLICAS") => return LinkError::NoReplicas { node },
            Some("MISCONF") => return LinkError::CannotSave { node, why },
            Some("CLUSTERDOWN") => return LinkError::ClusterDown { why },
            Some("TRYAGAIN") => return LinkError::Moving,
            Some("MOVED") | Some("ASK") => return LinkError::Moved { times: 1 },
            Some("CROSSSLOT") => return LinkError::CrossSlot { why },
            Some("WRONGTYPE") => return LinkError::WrongType { why },
            Some("NOAUTH") | Some("WRONGPASS") | Some("NOPERM") => return LinkError::Denied { node, why },
            Some(_) | None => {}
        }
        // An error inside a script is wrapped by some versions: its own code then stands in the text.
        for (code, told) in [
            ("-OOM ", LinkError::OutOfMemory { node: node.clone() }),
            ("OOM command not allowed", LinkError::OutOfMemory { node: node.clone() }),
            ("READONLY ", LinkError::ReadOnly { node: node.clone() }),
            ("WRONGTYPE ", LinkError::WrongType { why: why.clone() }),
            ("MISCONF ", LinkError::CannotSave { node: node.clone(), why: why.clone() }),
            ("NOREPLICAS ", LinkError::NoReplicas { node: node.clone() }),
        ] {
            if why.contains(code) {
                return told;
            }
        }
        let kind = error.kind();
        if kind == ErrorKind::AuthenticationFailed {
            return LinkError::Denied { node, why };
        }
        if kind == ErrorKind::InvalidClientConfig {
            return LinkError::Config(why);
        }
        if matches!(kind, ErrorKind::Server(_) | ErrorKind::Extension) {
            return LinkError::Refused { why };
        }
        if error.is_connection_refusal() {
            return LinkError::Unreachable { node, why };
        }
        if error.is_io_error() || error.is_timeout() || error.is_connection_dropped() {
            return LinkError::Unknown { node, why };
        }
        LinkError::Refused { why: error.to_string() }
    }

    /// The same for somebody who was only opening a connection: then nothing was sent.
    pub(crate) fn opening(node: &str, error: &RedisError) -> LinkError {
        let told = LinkError::of(node, error);
        let LinkError::Unknown { node, why } = told else { return told };
        if why.contains("certificate") {
            LinkError::Untrusted { node, why }
        } else {
            LinkError::Unreachable { node, why }
        }
    }
}

impl From<LinkError> for EngineError {
    fn from(error: LinkError) -> EngineError {
        if matches!(error, LinkError::Forgotten { .. } | LinkError::Recovering) {
            return EngineError::Recovering;
        }
        if matches!(error, LinkError::Unknown { .. }) {
            return EngineError::Unanswered(error.to_string());
        }
        match error.cure() {
            Cure::Nothing => EngineError::Damaged(error.to_string()),
            // Wrong settings and passwords are put right by people, and then the same command works.
            Cure::Moment | Cure::Time | Cure::People => EngineError::Unavailable(error.to_string()),
        }
    }
}
