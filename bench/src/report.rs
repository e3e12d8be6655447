//! The tables at the end of a run, and the flat JSON object for programs.

use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};

use crate::aims::AIMS;
use crate::contest::{Figures, Plan};

/// Above this somebody else was at work.
const BUSY: f64 = 0.5;

/// Who asked for a part of it all is not told what is missing.
pub(crate) fn print(figures: &Figures, plan: &Plan, part: bool) {
    let flush = figures.get("fdatasync_p50_ms").copied().unwrap_or(f64::NAN);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\nMedians of {} rounds of {:.0} s each.", plan.rounds, plan.length.as_secs_f64());
    println!("This disk's fdatasync p50 is {flush:.3} ms; {cores} cores shared by client and server.");
    let load = figures.get("machine_load_before").copied().unwrap_or(0.0);
    if load > BUSY {
        println!("The machine was busy before the run (load {load:.2}): read these figures with care.");
    }
    println!();

    let mut measured = table(&["measured", "value"]);
    for (name, value) in figures.iter().filter(|(name, _)| AIMS.iter().all(|aim| aim.name != name.as_str())) {
        measured.add_row([name.clone(), number(*value)]);
    }
    align(&mut measured, &[1]);
    println!("{measured}\n");

    let mut aims = table(&["aim", "value", "bound", "reached", "what"]);
    for aim in AIMS.iter().filter(|aim| !part || figures.contains_key(aim.name)) {
        let value = figures.get(aim.name);
        let shown = value.map_or("missing".to_owned(), |value| number(*value));
        let reached = match value.map(|value| aim.bound.reached(*value)) {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "missing",
        };
        aims.add_row([aim.name, &shown, &aim.bound.to_string(), reached, aim.what]);
    }
    align(&mut aims, &[1]);
    if aims.row_count() > 0 {
        println!("{aims}");
    }
}

/// Writes one flat object, name → number.
pub(crate) fn write(figures: &Figures, file: &Path) -> Result<()> {
    let text = serde_json::to_string_pretty(figures).context("figures as JSON")?;
    std::fs::write(file, text + "\n").with_context(|| format!("writing {}", file.display()))
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(ASCII_MARKDOWN).set_header(header);
    table
}

fn align(table: &mut Table, right: &[usize]) {
    for column in right {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Large numbers whole and in groups of three, small ones with three digits behind the point.
fn number(value: f64) -> String {
    if value < 1_000.0 {
        return format!("{value:.3}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(number(0.3514), "0.351");
        assert_eq!(number(30_712.4), "30,712");
        assert_eq!(number(1_234_567.0), "1,234,567");
    }
}
