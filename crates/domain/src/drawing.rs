//! What a seller may name as the picture of an item: an `https` address, or a small drawing (SVG) in its own words. Called
//! by the checks of SKUs and items. A drawing is kept as it is: whoever serves it makes sure that it can do nothing.

use crate::field::FieldPath;
use crate::limits::{PICTURE_SVG_BYTES_MAX, PICTURE_URL_BYTES_MAX};
use crate::refusal::Refusal;

const WHY: &str = "an https address of at most 2,048 bytes, or an SVG of at most 4,096";

/// Whether a picture is a drawing, not an address.
pub fn is_svg(picture: &str) -> bool {
    picture.starts_with('<')
}

/// Refuses a picture that is neither.
pub fn check(field: FieldPath, picture: Option<&str>) -> Result<(), Refusal> {
    match picture.is_none_or(|picture| if is_svg(picture) { fits_svg(picture) } else { fits_url(picture) }) {
        true => Ok(()),
        false => Err(Refusal::invalid(field, WHY)),
    }
}

/// An address without a user in it, in characters that stand for themselves in JSON, HTML attributes and headers.
fn fits_url(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\^`{|}".contains(&byte);
    url.len() <= PICTURE_URL_BYTES_MAX && !host.is_empty() && !host.contains('@') && url.bytes().all(plain)
}

fn fits_svg(svg: &str) -> bool {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
    let begins = svg.strip_prefix("<svg").is_some_and(|rest| rest.starts_with(|c| blank(c) || c == '>'));
    let control = |c: char| c.is_control() && !blank(c);
    svg.len() <= PICTURE_SVG_BYTES_MAX && begins && svg.ends_with("</svg>") && !svg.chars().any(control)
}
