//! Amounts as Stripe counts them. Its decimals are not always those of ISO 4217.

use onsale_domain::money::{Currency, Minor};

/// No decimals at Stripe, two in ISO 4217.
const FEWER: [&str; 1] = ["MGA"];
/// No decimals in ISO 4217, two at Stripe, always zero.
const MORE: [&str; 2] = ["ISK", "UGX"];
/// Three decimals, of which the last must be zero.
const TENS: [&str; 5] = ["BHD", "JOD", "KWD", "OMR", "TND"];

/// What to ask Stripe for. `None`: it cannot take exactly this.
pub(super) fn there(amount_minor: Minor, currency: Currency) -> Option<i64> {
    let code = currency.as_str();
    if FEWER.contains(&code) {
        return (amount_minor % 100 == 0).then_some(amount_minor / 100);
    }
    if MORE.contains(&code) {
        return amount_minor.checked_mul(100);
    }
    (!TENS.contains(&code) || amount_minor % 10 == 0).then_some(amount_minor)
}

/// What Stripe means, in our minor units; its codes are in small letters.
pub(super) fn here(amount: i64, code: &str) -> Minor {
    let code = code.to_ascii_uppercase();
    if FEWER.contains(&code.as_str()) {
        return amount.saturating_mul(100);
    }
    if MORE.contains(&code.as_str()) { amount / 100 } else { amount }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripe_counts_some_currencies_in_its_own_way() {
        let table = [
            ("EUR", 4_500, Some(4_500)),
            ("JPY", 500, Some(500)),
            ("ISK", 5, Some(500)),
            ("UGX", 7, Some(700)),
            ("MGA", 1_200, Some(12)),
            ("MGA", 1_201, None),
            ("KWD", 5_120, Some(5_120)),
            ("KWD", 5_124, None),
            ("HUF", 1_045, Some(1_045)),
        ];
        for (code, minor, expected) in table {
            let currency = Currency::parse(code).expect("three letters");
            assert_eq!(there(minor, currency), expected, "{code} {minor}");
            if let Some(amount) = expected {
                assert_eq!(here(amount, &code.to_lowercase()), minor, "{code} {minor} and back");
            }
        }
    }
}
