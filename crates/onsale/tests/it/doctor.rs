//! `onsale doctor` as an operator meets it: the real binary and a private Redis.

use std::path::Path;
use std::process::{Command, Output};

use onsale_redis_servers::{Brand, Server, Setup};
use serde_json::Value;

fn doctor(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onsale"));
    command.current_dir(folder).arg("doctor").args(arguments).env_clear().envs(environment.iter().copied());
    command.output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn it_says_what_to_change_and_its_exit_code_says_whether_anybody_must() {
    let server = Server::with(Brand::Redis, Setup::default().password("open-sesame"));
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("redis://{}", server.address());
    let secret = [("ONSALE_REDIS__PASSWORD", "open-sesame")];

    let sick = doctor(folder.path(), &["--url", &url], &secret);
    let told = text(&sick.stdout);
    assert_eq!(sick.status.code(), Some(1), "{told}{}", text(&sick.stderr));
    for words in
        ["redis 7.0", "it keeps nothing on disk", "→ set appendonly yes", "Durable: a yes is in the memory"]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
    server.tell("CONFIG SET maxmemory-policy allkeys-lru");
    let told = text(&doctor(folder.path(), &["--url", &url], &secret).stdout);
    assert!(told.contains("No server starts on this:") && told.contains("allkeys-lru"), "{told}");

    server.tell("CONFIG SET maxmemory-policy noeviction");
    server.tell("CONFIG SET appendonly yes");
    std::fs::write(folder.path().join("onsale.toml"), format!("[redis]\nurl = \"{url}\"\n"))
        .expect("written");
    let well = doctor(folder.path(), &["--json"], &secret);
    assert_eq!(well.status.code(), Some(0), "{}{}", text(&well.stdout), text(&well.stderr));
    let report: Value = serde_json::from_slice(&well.stdout).expect("JSON");
    assert_eq!((&report["topology"], &report["nodes"][0]["product"]), (&"single".into(), &"redis".into()));
    assert!(report["nodes"][0]["latency"]["p99_us"].as_u64().is_some_and(|taken| taken > 0), "{report}");

    let closed = doctor(folder.path(), &[], &[("ONSALE_REDIS__PASSWORD", "guess")]);
    let told = text(&closed.stderr);
    assert!(!closed.status.success() && told.contains("redis.password") && !told.contains("guess"), "{told}");
}

#[test]
fn without_a_deployment_it_says_how_to_name_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let nothing = doctor(folder.path(), &[], &[]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(text(&nothing.stderr).contains("--url"), "{}", text(&nothing.stderr));
    let away = doctor(folder.path(), &["--url", "redis://127.0.0.1:1"], &[]);
    assert!(text(&away.stderr).contains("is it running"), "{}", text(&away.stderr));
}
