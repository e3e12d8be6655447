//! `engine = "redis"` as well as the section `[engine]`, with the same words about what is wrong.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{EngineConfig, EngineKind};

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Section {
    kind: EngineKind,
    shards: Option<usize>,
    queue: Option<usize>,
}

struct NameOrSection;

impl<'de> Visitor<'de> for NameOrSection {
    type Value = EngineConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`embedded`, `redis` or a section")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<EngineConfig, E> {
        let kind = match name {
            "embedded" => EngineKind::Embedded,
            "redis" => EngineKind::Redis,
            other => return Err(E::unknown_variant(other, &["embedded", "redis"])),
        };
        Ok(EngineConfig { kind, ..EngineConfig::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EngineConfig, A::Error> {
        let Section { kind, shards, queue } = Section::deserialize(MapAccessDeserializer::new(map))?;
        Ok(EngineConfig { kind, shards, queue })
    }
}

impl<'de> Deserialize<'de> for EngineConfig {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<EngineConfig, D::Error> {
        from.deserialize_any(NameOrSection)
    }
}
