//! How orders are paid: by which provider, how long it has, and what the house takes on top.

use onsale_domain::Millis;
use onsale_domain::order::Fees;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Payments {
    /// Who takes the money.
    pub provider: ProviderName,
    /// How long a payment may take; goods are pinned so long, but never past 15 minutes.
    pub pay_seconds: u32,
    /// On top of every order that costs anything, in minor units.
    pub fee_per_order_minor: u32,
    /// The same for each seat, place or unit.
    pub fee_per_unit_minor: u32,
    /// A share of the goods' price, in hundredths of a percent, rounded half up.
    pub fee_share: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderName {
    /// Inside this process; takes no real money.
    #[default]
    Simulated,
    /// Takes real money: section `[stripe]`.
    Stripe,
}

impl Default for Payments {
    fn default() -> Self {
        Payments {
            provider: ProviderName::Simulated,
            pay_seconds: 600,
            fee_per_order_minor: 0,
            fee_per_unit_minor: 0,
            fee_share: 0,
        }
    }
}

impl Payments {
    pub fn fees(&self) -> Fees {
        Fees {
            per_order_minor: self.fee_per_order_minor.into(),
            per_unit_minor: self.fee_per_unit_minor.into(),
            share: self.fee_share,
        }
    }

    pub fn pay_ms(&self) -> Millis {
        Millis::from(self.pay_seconds) * 1_000
    }
}
