//! `/metrics` as Prometheus reads it: `promtool` is the judge, which `cargo xtask test` installs.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::demo::Demo;
use crate::house::House;

/// What a demo may send that nobody has used yet.
const FRESH_BYTES_MAX: usize = 60_000;

/// What `promtool check metrics` has to complain of.
fn complaints(page: &str) -> String {
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = promtool.spawn().expect("promtool of the package prometheus");
    child.stdin.take().expect("a pipe").write_all(page.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() { told } else { format!("{}\n{told}", output.status) }
}

fn page(house: &House) -> String {
    String::from_utf8(house.get("/metrics").body).expect("text")
}

#[test]
fn the_page_keeps_the_conventions() {
    let house = House::open();
    let event = house.event();
    house.hold(&event, "ann", &["A-1-1"]);
    let path = format!("/v1/events/{event}/holds");
    house.post(&path, &[("onsale-buyer", "bob")], json!({"seats": ["A-1-1"]})).problem(409, "seat_held");
    let page = page(&house);
    assert_eq!(complaints(&page), "", "{page}");
    let names = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for (name, kind) in names.filter_map(|line| line.split_once(' ')) {
        assert!(page.contains(&format!("# HELP {name} ")), "{name} has no help");
        assert_eq!(name.ends_with("_total"), kind == "counter", "{name} is a {kind}");
    }
    assert!(
        page.contains(&format!("onsale_build_info{{version=\"{}\",", env!("CARGO_PKG_VERSION"))),
        "{page}"
    );
}

#[test]
fn promtool_is_heard() {
    let bad = "# TYPE things_made counter\nthings_made 1\n";
    assert!(complaints(bad).contains("things_made"), "{}", complaints(bad));
}

#[test]
fn a_fresh_demo_sends_little() {
    let demo = Demo::start(&[]);
    let page = String::from_utf8(demo.get("/metrics").body).expect("text");
    println!("metrics_bytes_fresh: {}", page.len());
    assert!(page.len() <= FRESH_BYTES_MAX, "{} bytes\n{page}", page.len());
    assert!(page.contains("onsale_engine_listings"), "{page}");
    assert_eq!(complaints(&page), "", "{page}");
}
