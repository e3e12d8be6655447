//! Bounds that the same fields have in every kind of listing; a refusal names the field.

use crate::field::Field;
use crate::layout::is_name;
use crate::limits::{DESCRIPTION_CHARS_MAX, REASON_CHARS_MAX, TIME_MAX};
use crate::refusal::Refusal;
use crate::time::Millis;

const SHORT: &str = "1–200 characters without control characters";

pub(crate) fn check_name(field: Field, name: &str) -> Result<(), Refusal> {
    is_name(name).then_some(()).ok_or_else(|| Refusal::invalid(field, SHORT))
}

pub(crate) fn check_description(text: &str) -> Result<(), Refusal> {
    let fits = text.chars().count() <= DESCRIPTION_CHARS_MAX;
    fits.then_some(()).ok_or_else(|| Refusal::invalid(Field::Description, "at most 10,000 characters"))
}

/// A reason that staff gives is short and printable; it is read in lists.
pub(crate) fn check_reason(reason: &str) -> Result<(), Refusal> {
    let fits =
        (1..=REASON_CHARS_MAX).contains(&reason.chars().count()) && !reason.chars().any(char::is_control);
    fits.then_some(()).ok_or_else(|| Refusal::invalid(Field::Reason, SHORT))
}

pub(crate) fn check_time(field: Field, time: Millis) -> Result<(), Refusal> {
    let fits = (0..=TIME_MAX).contains(&time);
    fits.then_some(()).ok_or_else(|| Refusal::invalid(field, "a time between 1970 and 2200"))
}
