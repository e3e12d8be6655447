//! Payments: the port to providers, and the worker that carries slips between listings, the desk and the provider.
//! Nothing here decides about goods; every step may be repeated, so a crash between any two of them is harmless.

pub mod machine;
pub mod provider;
pub mod signature;
pub mod simulated;
pub mod stripe;
pub mod worker;

use onsale_domain::id::{read_base32, write_base32};
use onsale_domain::{PaymentId, Tenant};

pub use provider::{Provider, ProviderError, Said};
pub use worker::Worker;

/// `pay_<tenant>_<26>`: a payment lives on its tenant's desk.
pub fn payment_text(tenant: Tenant, payment: PaymentId) -> String {
    let number = write_base32(payment.0);
    format!("pay_{}_{}", tenant.as_str(), std::str::from_utf8(&number).unwrap_or_default())
}

/// Reads what [`payment_text`] wrote.
pub fn read_payment(text: &str) -> Option<(Tenant, PaymentId)> {
    let (tenant, number) = text.strip_prefix("pay_")?.split_once('_')?;
    Some((Tenant::parse(tenant)?, PaymentId(read_base32(number)?)))
}

/// The key under which a provider is asked: the payment's id, and which refund, and which try of it.
pub fn ask_key(tenant: Tenant, payment: PaymentId, refund: u16, failures: u16) -> String {
    let id = payment_text(tenant, payment);
    match (refund, failures) {
        (0, _) => id,
        (refund, 0) => format!("{id}-r{refund}"),
        (refund, failures) => format!("{id}-r{refund}-t{failures}"),
    }
}

/// What a key names: a payment, which of its refunds (0: itself), and which try, by the failures before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskName {
    pub payment: PaymentId,
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
    let (_, payment) = read_payment(id)?;
    Some(AskName { payment, refund, failures })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_reads_back_and_its_keys_differ() {
        let payment = PaymentId(u128::MAX - 7);
        let text = payment_text(Tenant::DEFAULT, payment);
        assert_eq!(read_payment(&text), Some((Tenant::DEFAULT, payment)));
        for wrong in ["", "pay_", "pay_default_", "ord_default_00000000000000000000000000", &text[1..]] {
            assert_eq!(read_payment(wrong), None, "{wrong}");
        }
        let key = |refund, failures| ask_key(Tenant::DEFAULT, payment, refund, failures);
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
