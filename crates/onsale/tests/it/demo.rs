//! The real binary with its demo on a free port, and what it writes to standard error.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::house::Answer;

pub(crate) struct Demo {
    child: Child,
    pub address: String,
    told: Arc<Mutex<String>>,
    _folder: tempfile::TempDir,
}

impl Demo {
    pub(crate) fn start(environment: &[(&str, &str)]) -> Demo {
        Demo::started(&["demo"], environment)
    }

    /// `serve` or `demo`, in a folder of its own.
    pub(crate) fn started(command: &[&str], environment: &[(&str, &str)]) -> Demo {
        let folder = tempfile::tempdir().expect("a folder");
        let mut onsale = Command::new(env!("CARGO_BIN_EXE_onsale"));
        onsale.current_dir(folder.path()).env_clear().envs(environment.iter().copied());
        onsale.args(command).args(["--listen", "127.0.0.1:0", "--data", "data"]);
        onsale.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = onsale_reaper::spawn(&mut onsale).expect("the binary starts");
        let told = Arc::<Mutex<String>>::default();
        let (found, address) = std::sync::mpsc::sync_channel(1);
        let (stdout, stderr) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
        for pipe in [Box::new(stdout) as Box<dyn Read + Send>, Box::new(stderr)] {
            let (told, found) = (told.clone(), found.clone());
            std::thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    if let Some((_, rest)) = line.split_once("http://127.0.0.1:") {
                        let port = rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or("");
                        let _ = found.try_send(format!("127.0.0.1:{port}"));
                    }
                    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                    told.push_str(&line);
                    told.push('\n');
                }
            });
        }
        // Without this one the wait below would not end with the server's own two.
        drop(found);
        let text = told.clone();
        let address = address.recv().unwrap_or_else(|_| panic!("no address: {}", text.lock().expect("text")));
        Demo { child, address, told, _folder: folder }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.raw(&format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer demo-key\r\n\r\n"
        ))
    }

    pub(crate) fn raw(&self, text: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        stream.write_all(text.as_bytes()).expect("sent");
        Answer::read(&mut BufReader::new(stream))
    }

    /// Waits for a word that begins like this.
    pub(crate) fn await_word(&self, beginning: &str) -> String {
        loop {
            let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(word) = told.split_whitespace().find(|word| word.starts_with(beginning)) {
                return word.to_owned();
            }
            // It ends with its pipes.
            assert!(Arc::strong_count(&self.told) > 1, "it never says {beginning}: {told}");
            std::thread::yield_now();
        }
    }

    /// Ends it as Ctrl-C does, and gives everything it has said.
    pub(crate) fn stop(mut self) -> String {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is running");
        self.child.wait().expect("it ends");
        // The readers end with the pipes; whoever still holds the text has not read it all.
        while Arc::strong_count(&self.told) > 1 {
            std::thread::yield_now();
        }
        std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
