//! Where log lines go: standard error, as text for people or JSON for machines; and which of them.

use onsale_edge::listen::access;
use tracing_subscriber::EnvFilter;

use crate::config::{Log, LogFormat};

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Starts logging; a second call (as in tests) changes nothing.
pub fn start(log: &Log) {
    // What `check` has let through is readable.
    let filter = EnvFilter::try_new(directives(log)).unwrap_or_else(|_| EnvFilter::new("info"));
    let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr());
    // A line that cannot be written is lost. To complain about it on the same standard error would be a panic, and that
    // in the middle of a request.
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(ansi)
        .log_internal_errors(false);
    let started = match log.format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}

/// The level, and behind it whether requests are logged: the more exact directive wins.
fn directives(log: &Log) -> String {
    let access = if log.access { "info" } else { "off" };
    format!("{},{}={access}", log.level, access::TARGET)
}

/// Says what is wrong with a level. The filter's own reader takes a word that is no level for the name of a module, and
/// then shows nothing at all.
pub fn check(level: &str) -> Result<(), String> {
    for part in level.split(',') {
        let (module, level) = match part.split_once('=') {
            Some((module, level)) => (Some(module), level),
            None => (None, part),
        };
        if !LEVELS.contains(&level.to_ascii_lowercase().as_str()) {
            return Err(format!("{level:?} is no level"));
        }
        let letter = |letter: char| letter.is_ascii_alphanumeric() || "_:".contains(letter);
        if module.is_some_and(|module| module.is_empty() || !module.chars().all(letter)) {
            return Err(format!("{part:?} does not name a module"));
        }
    }
    EnvFilter::try_new(level).map(|_| ()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_word_of_six_or_one_for_each_module() {
        for right in ["info", "OFF", "warn,onsale_engine=debug", "error,onsale_edge::listen=trace"] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for wrong in ["loud", "", "info,", "onsale=loud", "=info", "warn,onsale", "a b=info", "error, warn"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        assert_eq!(check("onsale=loud"), Err("\"loud\" is no level".to_owned()));
    }

    #[test]
    fn requests_are_logged_when_they_are_wanted() {
        let log = |access| Log { access, level: "warn".to_owned(), ..Log::default() };
        assert_eq!(directives(&log(true)), "warn,access=info");
        assert_eq!(directives(&log(false)), "warn,access=off");
    }
}
