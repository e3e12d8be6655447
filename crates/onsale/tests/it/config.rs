//! The configuration as an operator meets it: the real binary, with file, environment and flags.

use std::path::Path;
use std::process::{Command, Output};

pub(crate) fn onsale(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onsale"));
    command.current_dir(folder).args(arguments).env_clear().envs(environment.iter().copied());
    command.output().expect("the binary runs")
}

/// What a run that must be refused says.
pub(crate) fn refused(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let output = onsale(folder, arguments, environment);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "listen = \"127.0.0.1:1111\"\ndata = \"from-file\"\n[limits]\nbody_bytes = 2048\n";
    std::fs::write(folder.path().join("onsale.toml"), file).expect("written");
    let environment = [("ONSALE_LISTEN", "127.0.0.1:2222"), ("ONSALE_LIMITS__HEADER_BYTES", "9000")];
    let output = onsale(folder.path(), &["config", "--json", "--listen", "127.0.0.1:3333"], &environment);
    let config: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(config["listen"], "127.0.0.1:3333");
    assert_eq!(config["data"], "from-file");
    assert_eq!(
        (&config["limits"]["body_bytes"], &config["limits"]["header_bytes"]),
        (&2048.into(), &9000.into())
    );
    assert_eq!(config["limits"]["connections_max"], 20_000);
    let output = onsale(folder.path(), &["config"], &[("ONSALE_API_KEY", "a-secret-key")]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("api_key = \"********\"") && !text.contains("a-secret-key"), "{text}");
}

#[test]
fn what_nobody_knows_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = refused(folder.path(), &["config"], &[("ONSALE_COLOUR", "red")]);
    assert!(told.contains("colour") && told.contains("listen"), "{told}");
    let told = refused(folder.path(), &["config"], &[("ONSALE_LIMITS__BODY", "1")]);
    assert!(told.contains("body_bytes"), "{told}");
    std::fs::write(folder.path().join("other.toml"), "[log]\nshape = \"round\"\n").expect("written");
    let told = refused(folder.path(), &["config", "--config", "other.toml"], &[]);
    assert!(told.contains("shape") && told.contains("format"), "{told}");
    let told = refused(folder.path(), &["config", "--config", "missing.toml"], &[]);
    assert!(told.contains("missing.toml") && told.contains("does not exist"), "{told}");
    let told = refused(folder.path(), &["serve", "--listen", "0.0.0.0:7070"], &[]);
    assert!(told.contains("loopback") && told.contains("API key"), "{told}");
    let told = refused(folder.path(), &["config"], &[("ONSALE_LOG__LEVEL", "loud")]);
    assert!(told.contains("\"loud\" is no level") && told.contains("error, warn, info"), "{told}");
    let told = refused(folder.path(), &["config"], &[("ONSALE_API_KEY", "short")]);
    assert!(told.contains("api_key"), "{told}");
    assert!(!folder.path().join("onsale-data").exists(), "a refusal leaves nothing behind");
}

#[test]
fn an_empty_text_is_refused_in_the_words_of_the_file_wherever_it_was_set() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, setting, words) in [
        (
            "ONSALE_REDIS__PREFIX",
            "[redis]\nprefix = \"\"\n",
            "redis.prefix is empty, so our keys could not be told",
        ),
        ("ONSALE_LOG__FORMAT", "[log]\nformat = \"\"\n", "none of the values that are known"),
    ] {
        std::fs::write(folder.path().join("empty.toml"), setting).expect("written");
        let of_file = refused(folder.path(), &["config", "--config", "empty.toml"], &[]);
        let of_environment = refused(folder.path(), &["config"], &[(name, "")]);
        assert!(of_file.contains(words), "{of_file}");
        assert!(of_environment.contains(words), "{of_environment}");
    }
}

#[test]
fn a_value_that_is_wrong_is_told_by_its_setting_and_without_a_word_of_rust() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = |name: &str, value: &str| {
        let told = refused(folder.path(), &["config"], &[(name, value)]);
        let told =
            told.strip_prefix("onsale: the configuration is wrong: ").expect("the usual words").trim_end();
        let told = told.strip_prefix(name).unwrap_or_else(|| panic!("{name} is not named: {told}"));
        told.strip_prefix(": ").expect("a colon").to_owned()
    };
    for (name, value, words) in [
        ("ONSALE_LIMITS__IDLE_TIMEOUT_MS", "-1", "must be a whole number, 0 or more, not the number -1"),
        ("ONSALE_PAYMENTS__FEE_SHARE", "100000", "must be a smaller whole number, not the number 100000"),
        ("ONSALE_LOG__FORMAT", "xml", "`xml` is none of the values that are known: `text`, `json`"),
        ("ONSALE_ENGINE", "foo", "`foo` is none of the values that are known: `embedded`, `redis`"),
        ("ONSALE_LOG__ACCESS", "maybe", "must be true or false, not the text \"maybe\""),
        ("ONSALE_LIMITS", "3", "must be a section, not the number 3"),
        ("ONSALE_LISTEN", "here", "must be an address and a port, like 127.0.0.1:7070"),
        ("ONSALE_REDIS__URL", "7", "must be a text or a list of texts"),
        // What came may be a secret, and is not shown.
        ("ONSALE_API_KEY", "12345678901", "must be a text; in double quotes it is one"),
    ] {
        assert_eq!(told(name, value), words, "{name}={value}");
    }
    let told = refused(folder.path(), &["config"], &[("ONSALE_TLS__CERT", "cert.pem")]);
    assert_eq!(told, "onsale: the configuration is wrong: tls: `key` is missing\n");
    let told = refused(folder.path(), &["config", "--listen", "here"], &[]);
    assert!(told.contains(" wrong: --listen: must be an address"), "{told}");
    for (file, words) in [
        (
            "[limits]\nbody_bytes = -5\n",
            "limits.body_bytes: must be a whole number, 0 or more, not the number -5 (in bad.toml)",
        ),
        (
            "[log]\nformat = 7\n",
            "log.format: must be one of the words in `onsale config --sample`, not the number 7 (in bad.toml)",
        ),
        (
            "[log]\nshape = 7\n",
            "log.shape: nothing here is called `shape`; what there is: `format`, `level`, `access` (in bad.toml)",
        ),
    ] {
        std::fs::write(folder.path().join("bad.toml"), file).expect("written");
        let told = refused(folder.path(), &["config", "--config", "bad.toml"], &[]);
        assert_eq!(told, format!("onsale: the configuration is wrong: {words}\n"));
    }
}
