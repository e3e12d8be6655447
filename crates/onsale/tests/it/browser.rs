//! A page as a reader's browser makes it: Chromium without a window, its document and its console afterwards.
//! A machine without `chromium` fails these tests; `cargo xtask test` installs it.

use std::process::Command;

use crate::house::House;

/// Seconds after which Chromium is stuck; a page takes one or two.
const PATIENCE: &str = "120";

/// What a page had become once its scripts had run.
#[derive(Debug)]
struct Page {
    document: String,
    /// Whatever was said on the console: errors of scripts, of loading, and `console.log`.
    console: Vec<String>,
}

fn open(address: &str) -> Page {
    let profile = tempfile::tempdir().expect("a folder");
    let output = Command::new("timeout")
        .args([
            PATIENCE,
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args(["--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(address)
        .output()
        .expect("`timeout` of the coreutils");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "chromium: {} {told}", output.status);
    let console = told.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    Page { document: String::from_utf8(output.stdout).expect("text"), console }
}

#[test]
fn the_page_of_routes_shows_every_route_and_no_error() {
    let house = House::open();
    let page = open(&format!("http://{}/docs", house.address));
    assert!(page.console.is_empty(), "{:#?}", page.console);
    for trouble in ["Loading", "could not be loaded", "undefined", "[object"] {
        assert!(!shown(&page.document).contains(trouble), "{trouble} in {}", page.document);
    }
    let api = house.get("/openapi.json").json();
    let mut routes = 0;
    for (path, verbs) in api["paths"].as_object().expect("paths") {
        for verb in verbs.as_object().expect("verbs").keys() {
            let head = format!("{}</span>{path}</h3>", verb.to_uppercase());
            assert!(page.document.contains(&head), "{verb} {path} is not in {}", page.document);
            routes += 1;
        }
    }
    assert!(routes >= 30, "{routes}");
    assert_eq!(page.document.matches("<article").count(), routes, "each route once");
    // A refusal leads to the page of its code, and an example with a name of its own stands beside the usual one.
    assert!(page.document.contains("<a href=\"/problems/seat_held\">seat_held</a>"), "{}", page.document);
    assert!(page.document.contains("<p>Wait in line if it is taken</p>"), "{}", page.document);
}

#[test]
fn the_page_of_routes_finds_routes_by_their_words_and_shows_how_to_ask() {
    let house = House::open();
    let page = open(&format!("http://{}/docs?find=queue%20leave", house.address));
    assert!(page.console.is_empty(), "{:#?}", page.console);
    let articles: Vec<&str> = page.document.split("<article").skip(1).collect();
    let visible = |article: &&&str| !article.split_once('>').is_some_and(|(head, _)| head.contains("hidden"));
    let found: Vec<&&str> = articles.iter().filter(visible).collect();
    assert_eq!(found.len(), 1, "{} of {} are shown", found.len(), articles.len());
    let asked = format!(
        "curl -X DELETE -H \"Authorization: Bearer $KEY\" -H 'Onsale-Buyer: bob' 'http://{}/v1/events/evt_",
        house.address
    );
    assert!(found[0].contains("/v1/events/{event}/seats/{seat}/queue"), "{}", found[0]);
    assert!(found[0].contains(&asked), "{}", found[0]);
    assert!(page.document.contains(">1 route<"), "it says how many there are");
}

#[test]
fn what_a_page_says_on_the_console_is_heard() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    let text = "<!doctype html><p>before</p><script>document.body.append('after'); nonsense();</script>";
    std::fs::write(&file, text).expect("written");
    let page = open(&format!("file://{}", file.display()));
    assert!(page.document.contains("after"), "{page:?}");
    assert!(page.console.len() == 1 && page.console[0].contains("nonsense is not defined"), "{page:?}");
}

/// The document without its own script.
fn shown(document: &str) -> &str {
    document.split_once("<script>").map_or(document, |(before, _)| before)
}
