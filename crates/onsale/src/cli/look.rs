//! How numbers and tables look on a terminal, the same in every command.

use std::io::{self, IsTerminal, Write};

use comfy_table::presets::{NOTHING, UTF8_FULL_CONDENSED};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use indicatif::{ProgressBar, ProgressStyle};

/// 1234567 as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 seat`, `2 seats`.
pub fn counted(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(number))
}

pub fn bytes(number: u64) -> String {
    let (mut value, mut unit) = (number as f64, "B");
    for next in ["kB", "MB", "GB", "TB"] {
        if value < 1_000.0 {
            break;
        }
        (value, unit) = (value / 1_000.0, next);
    }
    if unit == "B" { format!("{number} B") } else { format!("{value:.1} {unit}") }
}

/// Microseconds as people say them.
pub fn micros(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..10_000 => format!("{:.2} ms", micros as f64 / 1_000.0),
        10_000..100_000 => format!("{:.1} ms", micros as f64 / 1_000.0),
        100_000..1_000_000 => format!("{:.0} ms", micros as f64 / 1_000.0),
        _ => format!("{:.2} s", micros as f64 / 1_000_000.0),
    }
}

/// A list of names and what is known of them, without any lines.
pub fn plain() -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// A table with a header.
pub fn ruled(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    let cell = |(place, text): (usize, &&str)| {
        let side = if place == 0 { CellAlignment::Left } else { CellAlignment::Right };
        Cell::new(text).set_alignment(side)
    };
    table.set_header(header.iter().enumerate().map(cell));
    table
}

/// A cell whose number stands at the right.
pub fn right(text: impl ToString) -> Cell {
    Cell::new(text.to_string()).set_alignment(CellAlignment::Right)
}

/// Prints a text that may be long; who has seen enough (`| head`) may go.
pub fn show(text: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{}", text.trim_end()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// A table as text, without the blanks that pad its last column.
pub fn text(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A bar on a terminal, nothing elsewhere.
pub fn bar(length: u64, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_named() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
        assert_eq!((counted(1, "seat"), counted(2, "seat")), ("1 seat".into(), "2 seats".into()));
        assert_eq!((bytes(12), bytes(12_345)), ("12 B".into(), "12.3 kB".into()));
        let told = [750, 1_234, 12_345, 123_456, 1_234_567].map(micros);
        assert_eq!(told, ["750 µs", "1.23 ms", "12.3 ms", "123 ms", "1.23 s"]);
    }
}
