//! A server whose log cannot be written: the disk under it is full, or who read it is gone. Serving does not need it.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::house::Answer;

/// Long enough for a start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(15);

/// Serves with this as standard error, asks ten times, and ends it as a service manager does.
fn served(stderr: Stdio) -> ExitStatus {
    let folder = tempfile::tempdir().expect("a folder");
    // The log cannot say which port it is, so it is chosen here.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let mut onsale = Command::new(env!("CARGO_BIN_EXE_onsale"));
    onsale.current_dir(folder.path()).env_clear().env("ONSALE_LOG__ACCESS", "true");
    onsale.args(["serve", "--data", "data", "--listen", &free.to_string()]);
    onsale.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let mut child = onsale_reaper::spawn(&mut onsale).expect("the binary starts");
    let began = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(free) {
            Ok(stream) => break stream,
            Err(error) => {
                assert_eq!(child.try_wait().expect("a process"), None, "it has ended before it served");
                assert!(began.elapsed() < PATIENCE, "it does not serve: {error}");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    };
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    for _ in 0..10 {
        stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").expect("sent");
        let answer = Answer::read(&mut BufReader::new(stream.try_clone().expect("the same stream")));
        assert_eq!(answer.status, 200);
    }
    drop(stream);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is running");
    let asked = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a process") {
            return status;
        }
        if asked.elapsed() > PATIENCE {
            let _ = child.kill().and_then(|()| child.wait());
            panic!("SIGTERM did not end it");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_serves_and_stops_though_the_disk_of_its_log_is_full() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    assert!(served(full.into()).success());
}

#[test]
fn a_server_serves_and_stops_though_nobody_reads_its_log_any_more() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    assert!(served(writer.into()).success());
}
