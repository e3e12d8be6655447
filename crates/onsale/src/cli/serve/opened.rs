//! The engine that the configuration asks for, and what a yes means there.

use std::sync::Arc;

use anyhow::Context;
use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine_redis::deployment::accounts;
use onsale_engine_redis::link::Link;
use onsale_engine_redis::{RedisEngine, inspect, live};

use crate::config::access::Database;
use crate::config::{Config, EngineKind};
use crate::secrets;

/// The file in the data folder that names this server's accounts.
const ACCOUNTS: &str = "accounts_id";

pub(super) enum OpenEngine {
    Embedded(Arc<EmbeddedEngine>),
    Redis(RedisEngine),
}

impl OpenEngine {
    /// Called inside the runtime, so that the engine wakes its callers there.
    pub(super) async fn open(config: &Config) -> anyhow::Result<OpenEngine> {
        match config.engine.kind {
            EngineKind::Embedded => {
                let data = &config.data;
                let engine = EmbeddedEngine::open(data, options(config));
                let engine = engine.with_context(|| format!("opening the data folder {}", data.display()))?;
                super::found::tell_snapshots(&engine);
                Ok(OpenEngine::Embedded(Arc::new(engine)))
            }
            EngineKind::Redis => Box::pin(redis(config)).await.map(OpenEngine::Redis),
        }
    }

    pub(super) fn engine(&self) -> Arc<dyn Engine> {
        match self {
            OpenEngine::Embedded(engine) => engine.clone(),
            OpenEngine::Redis(engine) => Arc::new(engine.clone()),
        }
    }

    /// What was taken is brought to where it is durable.
    pub(super) fn close(&self) {
        match self {
            OpenEngine::Embedded(engine) => engine.close(),
            OpenEngine::Redis(engine) => engine.close(),
        }
    }
}

async fn redis(config: &Config) -> anyhow::Result<RedisEngine> {
    let redis = config.redis.clone().unwrap_or_default();
    let options = live::Options { history_max_bytes: redis.history_mb << 20, ..live::Options::default() };
    let link = Link::open_when_loaded(redis).await?;
    let durable = inspect::at_start(&link, false).await?;
    let engine = RedisEngine::open(link, options).await?;
    one_place_for_accounts(config, &engine).await?;
    tracing::info!("what durable means here: {durable}");
    Ok(engine)
}

/// Several servers on one Redis have the same people and keys, or none.
async fn one_place_for_accounts(config: &Config, engine: &RedisEngine) -> anyhow::Result<()> {
    let here = match &config.access.database {
        Database::None => return Ok(()),
        Database::Postgres(_) => "postgres".to_owned(),
        Database::Sqlite => format!("sqlite {}", secrets::named(&config.data, ACCOUNTS)?),
    };
    let place = accounts::claim(engine.link(), &here).await?;
    anyhow::ensure!(
        place == here,
        "the accounts of this Redis are elsewhere ({}): several servers need access.database = postgres://… at each of them, or \
         `none`; if that server is gone for good, delete the key accounts:{{onsale}} in Redis",
        place.split(' ').next().unwrap_or_default()
    );
    Ok(())
}

fn options(config: &Config) -> Options {
    let mut options = Options::default();
    if let Some(shards) = config.engine.shards {
        options.shards = shards.max(1);
    }
    if let Some(queue) = config.engine.queue {
        options.inbox_bound = queue.max(1);
    }
    options
}
