//! The run as a picture: latency over time on a logarithmic scale, and below it the answers per second.

use std::fmt::Write as _;

use super::measure::Point;
use crate::cli::look;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
/// The upper and the lower panel.
const LATENCY_HEIGHT: f64 = 290.0;
const RATE_TOP: f64 = 420.0;
const RATE_HEIGHT: f64 = 90.0;

const STYLE: &str = "\
svg{background:#fff;font:13px system-ui,sans-serif;fill:#1c2430}\
.t{font-size:19px;font-weight:600}.s{fill:#667085}.g{stroke:#e4e7ec}.a{fill:#667085;font-size:12px}\
.p50{stroke:#12b76a}.p90{stroke:#2e90fa}.p99{stroke:#f79009}.max{stroke:#f04438;stroke-dasharray:2 4}\
.c{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}\
.yes{fill:#12b76a;opacity:.75}.no{fill:#98a2b3;opacity:.6}\
@media(prefers-color-scheme:dark){svg{background:#0f1420;fill:#e6e9ef}.s,.a{fill:#98a2b3}.g{stroke:#26303f}}";

type Value = fn(&Point) -> u64;
const CURVES: [(&str, Value); 4] = [
    ("p50", |point| point.p50_us),
    ("p90", |point| point.p90_us),
    ("p99", |point| point.p99_us),
    ("max", |point| point.max_us),
];

pub(super) fn svg(title: &str, subtitle: &str, points: &[Point], seconds: f64) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = write!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\
         <style>{STYLE}</style><title>{title}</title>\
         <text class=\"t\" x=\"{LEFT}\" y=\"34\">{title}</text>\
         <text class=\"s\" x=\"{LEFT}\" y=\"56\">{subtitle}</text>",
        title = escape(title),
        subtitle = escape(subtitle),
    );
    let x = |at: f64| LEFT + (WIDTH - LEFT - RIGHT) * (at / seconds.max(0.001)).clamp(0.0, 1.0);
    latency(&mut text, points, &x);
    rates(&mut text, points, &x);
    for tick in 0..=5 {
        let at = seconds * f64::from(tick) / 5.0;
        let label = if seconds < 10.0 { format!("{at:.1} s") } else { format!("{at:.0} s") };
        let y = RATE_TOP + RATE_HEIGHT + 22.0;
        let _ = write!(
            text,
            "<text class=\"a\" x=\"{:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>",
            x(at)
        );
    }
    text.push_str("</svg>\n");
    text
}

fn latency(text: &mut String, points: &[Point], x: &impl Fn(f64) -> f64) {
    let lowest = points.iter().map(|point| point.p50_us).min().unwrap_or(100).max(1);
    let highest = points.iter().map(|point| point.max_us).max().unwrap_or(10_000).max(10);
    // Whole decades, so that the lines between them are round numbers.
    let (low, high) = ((lowest as f64).log10().floor(), (highest as f64).log10().ceil());
    let high = high.max(low + 1.0);
    let y = |micros: u64| {
        let share = ((micros.max(1) as f64).log10() - low) / (high - low);
        TOP + LATENCY_HEIGHT * (1.0 - share.clamp(0.0, 1.0))
    };
    for decade in low as i32..=high as i32 {
        let micros = 10_u64.pow(decade.max(0) as u32);
        let at = y(micros);
        let label = round_label(micros);
        let _ = write!(
            text,
            "<line class=\"g\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"a\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            WIDTH - RIGHT,
            LEFT - 10.0,
            at + 4.0,
        );
    }
    for (place, (name, value)) in CURVES.iter().enumerate() {
        let mut path = String::new();
        for (index, point) in points.iter().enumerate() {
            let step = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{step}{:.1} {:.1}", x(point.at_s), y(value(point)));
        }
        let legend = WIDTH - RIGHT - 250.0 + 66.0 * place as f64;
        let _ = write!(
            text,
            "<path class=\"c {name}\" d=\"{path}\"/>\
             <line class=\"c {name}\" x1=\"{legend}\" x2=\"{:.1}\" y1=\"52\" y2=\"52\"/>\
             <text class=\"a\" x=\"{:.1}\" y=\"56\">{name}</text>",
            legend + 18.0,
            legend + 24.0,
        );
    }
}

fn rates(text: &mut String, points: &[Point], x: &impl Fn(f64) -> f64) {
    let top = points.iter().map(|point| point.yes_per_s + point.no_per_s).fold(1.0, f64::max);
    let width = points.windows(2).map(|pair| x(pair[1].at_s) - x(pair[0].at_s)).fold(14.0, f64::min);
    let base = RATE_TOP + RATE_HEIGHT;
    for point in points {
        let (yes, no) = (RATE_HEIGHT * point.yes_per_s / top, RATE_HEIGHT * point.no_per_s / top);
        let left = x(point.at_s) - width * 0.4;
        for (class, height, bottom) in [("yes", yes, base), ("no", no, base - yes)] {
            let _ = write!(
                text,
                "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
                bottom - height,
                width * 0.8,
            );
        }
    }
    let label = look::count(top.round() as u64);
    let _ = write!(
        text,
        "<line class=\"g\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{base}\" y2=\"{base}\"/>\
         <text class=\"a\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}/s</text>\
         <text class=\"a\" x=\"{LEFT}\" y=\"{:.1}\">answers per second: yes (green), no (grey)</text>",
        WIDTH - RIGHT,
        LEFT - 10.0,
        RATE_TOP + 8.0,
        RATE_TOP - 12.0,
    );
}

fn round_label(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{} s", micros / 1_000_000),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
