//! Payments: the port to providers, and the worker that carries slips between listings, the desk and the provider.
//! Nothing here decides about goods; every step may be repeated, so a crash between any two of them is harmless.

pub mod machine;
pub mod provider;
pub mod signature;
pub mod simulated;
pub mod stripe;
pub mod worker;

use onsale_domain::PaymentName;

pub use provider::{Provider, ProviderAnswer, ProviderError};
pub use worker::Worker;

/// The key under which a provider is asked: the payment's id, and which refund, and which try of it.
pub fn ask_key(payment: PaymentName, refund: u16, failures: u16) -> String {
    let id = payment.text();
    match (refund, failures) {
        (0, _) => id,
        (refund, 0) => format!("{id}-r{refund}"),
        (refund, failures) => format!("{id}-r{refund}-t{failures}"),
    }
}

/// What a key names: a payment, which of its refunds (0: itself), and which try, by the failures before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskName {
    pub payment: PaymentName,
    pub refund: u16,
    pub failures: u16,
}

/// Reads what [`ask_key`] wrote.
pub fn read_ask_key(key: &str) -> Option<AskName> {
    let (id, refund, failures) = match key.split_once("-r") {
        None => (key, 0, 0),
        Some((id, rest)) => {
            let (refund, failures) = rest.split_once("-t").unwrap_or((rest, "0"));
            (id, refund.parse().ok()?, failures.parse().ok()?)
        }
    };
    let payment = PaymentName::parse(id)?;
    Some(AskName { payment, refund, failures })
}

#[cfg(test)]
mod tests {
    use onsale_domain::{ListingId, ListingKind, PaymentId, Tenant};

    use super::*;

    #[test]
    fn a_key_reads_back_and_no_two_are_the_same() {
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number: 7 };
        let payment = PaymentName { listing, payment: PaymentId(u64::MAX - 7) };
        let text = payment.text();
        for wrong in ["", "pay_", "pay_0000000000000007s", "ord_0000000000000007s000000000000a", &text[1..]] {
            assert_eq!(read_ask_key(wrong), None, "{wrong}");
        }
        let key = |refund, failures| ask_key(payment, refund, failures);
        let all = [key(0, 0), key(1, 0), key(2, 0), key(1, 1), key(1, 2)];
        assert!(all.iter().enumerate().all(|(n, key)| !all[..n].contains(key)));
        for (refund, failures) in [(0, 0), (1, 0), (2, 0), (1, 1), (1, 2)] {
            assert_eq!(read_ask_key(&key(refund, failures)), Some(AskName { payment, refund, failures }));
        }
        for wrong in ["", "-r1", &format!("{text}-r"), &format!("{text}-rx"), &format!("{text}-r1-t")] {
            assert_eq!(read_ask_key(wrong), None, "{wrong}");
        }
    }
}
