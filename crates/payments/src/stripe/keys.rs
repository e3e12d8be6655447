//! What Stripe is asked with. Where it comes from (a file, the environment) is for the configuration to say.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A text that is shown to nobody by accident.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn masked(&self) -> Secret {
        Secret("********".to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

/// Everything there must be, found and looked at.
#[derive(Clone, Debug)]
pub struct Keys {
    pub secret_key: Secret,
    pub webhook_secret: Secret,
    pub base_url: String,
    pub return_url: Option<String>,
}
