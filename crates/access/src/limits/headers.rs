//! The answer's headers, after draft-ietf-httpapi-ratelimit-headers: structured fields, written without a library because everything
//! in them is a name of ours or a whole number.

use super::attempt::Decision;
use super::rulebook::Rulebook;

/// Values of `RateLimit-Policy`, `RateLimit` and `Retry-After`; what is empty is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitHeaders {
    /// `"bid_user_60";q=60;w=60, …`: what the limits are.
    pub policy: String,
    /// `"bid_user_60";r=1;t=1, …`: requests left, and seconds until all of a burst is there again.
    pub limit: String,
    pub retry_after_s: Option<u64>,
}

pub(super) fn write(rules: &Rulebook, decision: &Decision) -> LimitHeaders {
    let quotas = decision.quotas();
    let mut headers = LimitHeaders {
        policy: String::with_capacity(quotas.len() * 40),
        limit: String::with_capacity(quotas.len() * 40),
        retry_after_s: decision.retry_after_s(),
    };
    for (number, quota) in quotas.iter().enumerate() {
        let rule = rules.rule(quota.rule);
        if number > 0 {
            headers.policy.push_str(", ");
            headers.limit.push_str(", ");
        }
        headers.policy.push_str(&rule.described);
        headers.limit.push('"');
        headers.limit.push_str(&rule.name);
        headers.limit.push_str("\";r=");
        push_number(&mut headers.limit, u64::from(quota.level.remaining));
        headers.limit.push_str(";t=");
        push_number(&mut headers.limit, quota.level.full_in_us.div_ceil(1_000_000));
    }
    headers
}

/// Numbers of a few digits, without the machinery of formatting: this is done for every answer.
fn push_number(text: &mut String, number: u64) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    // Below ten.
    text.push(char::from(b'0' + (number % 10) as u8));
}
