//! 50,000 buyers fight for 10,000 items, some walk away, some come too late: how many were sold, counted from the exported
//! facts by `onsale load sale`. The only right answer is 10,000, on either engine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{House, KEY, on_redis};
use crate::contest::{Contestant, Round};
use crate::process;
use crate::rivals::redis::{Flush, Instance};

#[derive(Debug)]
pub(crate) struct SaleExact {
    folder: PathBuf,
    redis: Option<Instance>,
}

pub(crate) fn contestants(folder: &Path) -> Vec<Box<dyn Contestant>> {
    let redis = Instance::new(Flush::EverySecond, folder.join("exact-redis-store"));
    vec![
        Box::new(SaleExact { folder: folder.join("exact"), redis: None }),
        Box::new(SaleExact { folder: folder.join("exact-redis"), redis: Some(redis) }),
    ]
}

impl Contestant for SaleExact {
    fn subject(&self) -> String {
        if self.redis.is_some() { "sale_exact_redis" } else { "sale_exact_embedded" }.to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.redis.as_mut().map_or(Ok(()), Instance::start)
    }

    fn once(&self) -> bool {
        true
    }

    fn round(&mut self, _length: Duration) -> Result<Round> {
        let settings = self.redis.as_ref().map_or(Ok(Vec::new()), on_redis)?;
        let house = House::open(&self.folder, &settings)?;
        let server = format!("http://{}", house.address);
        let mut load = std::process::Command::new(super::binary()?);
        load.args(["load", "sale", "--items", "10000", "--buyers", "50000", "--json", "--yes"]);
        load.args(["--server", &server, "--key", KEY]).current_dir(&self.folder);
        let told: serde_json::Value = serde_json::from_str(&process::output(&mut load)?).context("JSON")?;
        let check = &told["check"];
        ensure!(check["exact"] == true, "something broke: {check}");
        Ok(vec![("", check["sold"].as_f64().context("how many were sold")?)])
    }
}
