//! Facts say who made them where that was not the buyer, on Redis as on the embedded engine.

#[path = "../it/by/scene.rs"]
mod scene;

use crate::server::Deployment;
use crate::wire::request;
use onsale_redis_servers::{Brand, Server as Redis};
use scene::Scene;

#[test]
fn every_step_that_is_not_the_buyers_says_who_made_it_on_redis() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let server = Deployment::single(&redis.url()).start();
    let time: (i64, i64) = redis.say("TIME").expect("a time");
    let send = |method: &str, path: &str, headers: &[(&str, &str)], body: &str| {
        let answer = server.try_exchange(&request(method, path, headers, body)).expect("an answer");
        (answer.status, answer.json())
    };
    Scene::new(time.0 * 1_000 + time.1 / 1_000, &send).play();
}
