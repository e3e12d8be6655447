//! Seats and places as text: `12:4200,13:4200` with prices, `12,13` without, `3:2` for two places of an area.

use std::fmt::Write;

use onsale_domain::id::SeatIndex;
use onsale_domain::seats::fact::{AreaCount, AreaLine, SeatLine};
use onsale_domain::stock::fact::{SkuCount, SkuLine};

use super::fields::Malformed;

fn joined<T>(all: &[T], mut write: impl FnMut(&mut String, &T) -> std::fmt::Result) -> String {
    let mut text = String::with_capacity(all.len() * 8);
    for one in all {
        if !text.is_empty() {
            text.push(',');
        }
        // Writing into a string cannot fail.
        let _ = write(&mut text, one);
    }
    text
}

pub fn seats(all: &[SeatIndex]) -> String {
    joined(all, |text, seat| write!(text, "{seat}"))
}

pub fn seat_lines(all: &[SeatLine]) -> String {
    joined(all, |text, line| write!(text, "{}:{}", line.seat, line.price_minor))
}

pub fn area_counts(all: &[AreaCount]) -> String {
    joined(all, |text, line| write!(text, "{}:{}", line.area, line.count))
}

pub fn area_lines(all: &[AreaLine]) -> String {
    joined(all, |text, line| write!(text, "{}:{}:{}", line.area, line.count, line.price_minor))
}

pub fn sku_counts(all: &[SkuCount]) -> String {
    joined(all, |text, line| write!(text, "{}:{}", line.sku, line.count))
}

pub fn sku_lines(all: &[SkuLine]) -> String {
    joined(all, |text, line| write!(text, "{}:{}:{}", line.sku, line.count, line.price_minor))
}

fn read<T>(
    field: &str,
    text: &str,
    read: impl Fn(&mut dyn Iterator<Item = &str>) -> Option<T>,
) -> Result<Vec<T>, Malformed> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let one = |part: &str| {
        let mut parts = part.split(':');
        let one = read(&mut parts)?;
        parts.next().is_none().then_some(one)
    };
    text.split(',').map(|part| one(part).ok_or_else(|| Malformed::of(field))).collect()
}

fn next<T: std::str::FromStr>(parts: &mut dyn Iterator<Item = &str>) -> Option<T> {
    parts.next()?.parse().ok()
}

pub fn read_seats(text: &str) -> Result<Vec<SeatIndex>, Malformed> {
    read("seats", text, |parts| next(parts))
}

pub fn read_seat_lines(text: &str) -> Result<Vec<SeatLine>, Malformed> {
    read("seats", text, |parts| Some(SeatLine { seat: next(parts)?, price_minor: next(parts)? }))
}

pub fn read_area_counts(text: &str) -> Result<Vec<AreaCount>, Malformed> {
    read("areas", text, |parts| Some(AreaCount { area: next(parts)?, count: next(parts)? }))
}

pub fn read_area_lines(text: &str) -> Result<Vec<AreaLine>, Malformed> {
    read("areas", text, |parts| {
        Some(AreaLine { area: next(parts)?, count: next(parts)?, price_minor: next(parts)? })
    })
}

pub fn read_sku_counts(text: &str) -> Result<Vec<SkuCount>, Malformed> {
    read("lines", text, |parts| Some(SkuCount { sku: next(parts)?, count: next(parts)? }))
}

pub fn read_sku_lines(text: &str) -> Result<Vec<SkuLine>, Malformed> {
    read("lines", text, |parts| {
        Some(SkuLine { sku: next(parts)?, count: next(parts)?, price_minor: next(parts)? })
    })
}
