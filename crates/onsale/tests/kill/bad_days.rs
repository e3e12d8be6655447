//! Two servers on one folder, a damaged journal, Ctrl-C with a listener, ten thousand idle connections.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::rounds::{data, event_with_holds, held};
use crate::server::{Server, refused_start, verify};
use crate::wire::{Wire, request};

/// Idle connections, and the open files that both sides together could need for them.
const IDLE: u64 = 2_000;
const IDLE_IN_DEPTH: u64 = 10_000;
/// The system keeps about a thousand connections that the server has not taken yet and lets those above try again
/// after a second; so few at once never come to that.
const AT_ONCE: u64 = 500;
const FILES: u64 = 21_000;
/// For each silent connection.
const IDLE_BYTES_MAX: u64 = 20 << 10;
/// A connection that has asked once keeps its two buffers, of 8 to 16 kB each, until it ends.
const ASKED_BYTES_MAX: u64 = 30 << 10;
/// What a server may take beside its connections: an allocator grows by pages and threads.
const SLACK_BYTES: u64 = 16 << 20;

#[test]
fn a_second_server_on_the_same_folder_is_refused_and_the_first_serves_on() {
    let _alone = crate::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path());
    let told = refused_start(folder.path());
    assert!(told.contains("in use by another process") && told.contains("data"), "{told}");
    let event = event_with_holds(&server, 1);
    assert_eq!(held(&server, &event), 1);
}

#[test]
fn a_journal_damaged_in_the_middle_refuses_the_start_and_names_file_and_byte() {
    let _alone = crate::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path());
    event_with_holds(&server, 100);
    server.kill();
    let (code, report) = verify(folder.path());
    assert_eq!(code, Some(0), "{report}");
    let used = report["journal"]["bytes"].as_u64().expect("bytes");
    let file = data(folder.path()).join("journal-0000000001.log");
    let journal = OpenOptions::new().read(true).write(true).open(&file).expect("a journal");
    // Among the holds, which are the last few kilobytes behind the large chart.
    let at = used - 4_000;
    let mut byte = [0];
    journal.read_exact_at(&mut byte, at).expect("a byte");
    journal.write_all_at(&[byte[0] ^ 0x40], at).expect("a wrong byte");

    let told = refused_start(folder.path());
    assert!(told.contains("journal-0000000001.log is damaged at byte "), "{told}");
    let (code, report) = verify(folder.path());
    assert_eq!((code, report["sound"].as_bool()), (Some(1), Some(false)), "{report}");
    let damage = &report["journal"]["damage"];
    assert_eq!(damage["file"], "journal-0000000001.log");
    assert!(told.contains(&format!("at byte {}", damage["byte"])), "both name the same byte: {told}");

    journal.write_all_at(&byte, at).expect("the right byte again");
    let server = Server::start(folder.path());
    drop(server);
}

#[test]
fn after_a_clean_stop_the_next_start_continues() {
    let _alone = crate::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path());
    let event = event_with_holds(&server, 30);
    let (status, _) = server.interrupt();
    assert!(status.success(), "{status}");
    let (code, report) = verify(folder.path());
    assert_eq!((code, report["snapshots"][0]["sound"].as_bool()), (Some(0), Some(true)), "{report}");
    let server = Server::start(folder.path());
    assert_eq!(held(&server, &event), 30);
}

#[test]
fn ctrl_c_ends_quickly_and_well_although_somebody_listens() {
    let _alone = crate::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path());
    let event = event_with_holds(&server, 1);
    let mut listener = Wire::connect(server.address).expect("a connection");
    let stream = request("GET", &format!("/v1/events/{event}/stream"), &[], "");
    listener.send(&stream).expect("sent");
    assert!(listener.receive_some().expect("an answer").contains("200 OK"));
    let (status, took) = server.interrupt();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_secs(3), "it took {took:?}");
}

#[test]
fn two_thousand_idle_connections_cost_little_memory() {
    idle_connections(IDLE);
}

mod deep {
    #[test]
    fn ten_thousand_idle_connections_cost_little_memory() {
        super::idle_connections(super::IDLE_IN_DEPTH);
    }
}

fn idle_connections(wanted: u64) {
    let _alone = crate::alone();
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.unwrap_or(FILES);
    setrlimit(Resource::Nofile, Rlimit { current: Some(hard.min(FILES)), maximum: limit.maximum })
        .expect("up to the hard limit it may be raised");
    // Where fewer files may be open, proportionally fewer connections.
    let count = if hard >= FILES { wanted } else { wanted * hard / FILES };
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path());
    let event = event_with_holds(&server, 1);
    let before = resident_bytes(server.pid());
    let ask = request("GET", "/livez", &[], "");
    let mut idle = Vec::new();
    for number in 0..count {
        let wire = Wire::connect(server.address).unwrap_or_else(|error| panic!("{number}: {error}"));
        idle.push(wire);
        if number.is_multiple_of(AT_ONCE) {
            assert_eq!(held(&server, &event), 1, "those before are served");
        }
    }
    // Behind all of them in the queue of new connections: once this is answered, they are served, too.
    assert_eq!(held(&server, &event), 1);
    let silent = resident_bytes(server.pid()).saturating_sub(before);
    for wire in &mut idle {
        assert_eq!(wire.exchange(&ask).expect("an answer").status, 200);
    }
    let asked = resident_bytes(server.pid()).saturating_sub(before);
    println!("{count} idle connections: {} MB more, {} MB once each has asked", silent >> 20, asked >> 20);
    assert!(silent < IDLE_BYTES_MAX * count + SLACK_BYTES, "{silent} bytes for {count} silent connections");
    assert!(
        asked < ASKED_BYTES_MAX * count + SLACK_BYTES,
        "{asked} bytes for {count} connections that asked once"
    );
    // It still answers, to somebody new and to somebody who was idle.
    assert_eq!(held(&server, &event), 1);
    assert_eq!(idle[0].exchange(&ask).expect("an answer").status, 200);
}

/// Resident memory: from /proc where there is one, else from `ps`.
fn resident_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = match line {
        Some(line) => line.split_whitespace().next().map(str::to_owned),
        None => {
            let ps = std::process::Command::new("ps").args(["-o", "rss=", "-p", &pid.to_string()]).output();
            ps.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
    };
    kilobytes.and_then(|text| text.parse::<u64>().ok()).expect("the memory of a process") * 1024
}
