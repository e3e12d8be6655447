//! What people prefer: the categories, places, interests and prices by which things are suggested to them, and which
//! notices they want.

use std::collections::BTreeMap;

use onsale_sql::{Query, Row, SqlError, query};

use super::Accounts;
use super::{Failure, Refusal};
use crate::context::Context;

static FIND: Query = query!("preferences/find");
static SET: Query = query!("preferences/set");

/// Enough for any person, and a row stays small.
pub const PREFERRED_WORDS_MAX: usize = 50;
pub const PREFERRED_CHARS_MAX: usize = 64;
const NOTICES_MAX: usize = 32;
/// In minor units, as every price.
pub const PREFERRED_PRICE_MAX: i64 = 1_000_000_000_000;

#[derive(
    Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(default, deny_unknown_fields)]
pub struct Preferences {
    pub preferred_categories: Vec<String>,
    pub preferred_locations: Vec<String>,
    pub interests: Vec<String>,
    /// In minor units of the shop's currency.
    pub price_range_min: Option<i64>,
    pub price_range_max: Option<i64>,
    /// Which notices are wanted, by their names: `"seat_offered": true`.
    pub notification_settings: BTreeMap<String, bool>,
}

impl Preferences {
    fn check(&self) -> Result<(), Refusal> {
        let lists = [
            ("preferred_categories", &self.preferred_categories),
            ("preferred_locations", &self.preferred_locations),
            ("interests", &self.interests),
        ];
        for (field, list) in lists {
            if list.len() > PREFERRED_WORDS_MAX || !list.iter().all(|word| is_word(word)) {
                let problem = "at most 50 texts of 1 to 64 characters, without control characters";
                return Err(Refusal::Field { field, problem });
            }
        }
        let notices = &self.notification_settings;
        if notices.len() > NOTICES_MAX || !notices.keys().all(|name| is_word(name)) {
            let problem = "at most 32 names of 1 to 64 characters, each with true or false";
            return Err(Refusal::Field { field: "notification_settings", problem });
        }
        let prices = [("price_range_min", self.price_range_min), ("price_range_max", self.price_range_max)];
        for (field, price) in prices {
            if price.is_some_and(|price| !(0..=PREFERRED_PRICE_MAX).contains(&price)) {
                return Err(Refusal::Field { field, problem: "a price is a whole number from 0 to 10^12" });
            }
        }
        if self.price_range_min.zip(self.price_range_max).is_some_and(|(least, most)| least > most) {
            let problem = "the highest price is below the lowest";
            return Err(Refusal::Field { field: "price_range_max", problem });
        }
        Ok(())
    }
}

fn is_word(text: &str) -> bool {
    (1..=PREFERRED_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

impl Accounts {
    pub async fn preferences(&self, user: &str, context: &Context<'_>) -> Result<Preferences, Failure> {
        self.person(user, context).await?;
        let rows = self.sql.query(&FIND, &[user.into()]).await?;
        Ok(rows.first().map(read).transpose()?.unwrap_or_default())
    }

    /// Puts these in the place of all there were.
    pub async fn set_preferences(
        &self,
        user: &str,
        preferences: &Preferences,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        preferences.check()?;
        let mut tx = self.sql.begin().await?;
        super::person::lock_living(&mut tx, user, context).await?;
        let row = [
            user.into(),
            write(&preferences.preferred_categories).into(),
            write(&preferences.preferred_locations).into(),
            write(&preferences.interests).into(),
            preferences.price_range_min.into(),
            preferences.price_range_max.into(),
            write(&preferences.notification_settings).into(),
        ];
        tx.execute(&SET, &row).await?;
        Ok(tx.commit().await?)
    }
}

/// Texts and flags always have a JSON form.
fn write<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn read(row: &Row) -> Result<Preferences, SqlError> {
    fn part<T: serde::de::DeserializeOwned>(row: &Row, column: usize) -> Result<T, SqlError> {
        serde_json::from_str(row.text(column)?).map_err(|_| row.is_not(column, "JSON as we write it"))
    }
    Ok(Preferences {
        preferred_categories: part(row, 0)?,
        preferred_locations: part(row, 1)?,
        interests: part(row, 2)?,
        price_range_min: row.int_or_none(3)?,
        price_range_max: row.int_or_none(4)?,
        notification_settings: part(row, 5)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(preferences: &Preferences) -> Option<&'static str> {
        match preferences.check() {
            Err(Refusal::Field { field, .. }) => Some(field),
            Ok(()) => None,
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn preferences_have_bounds_and_a_refusal_names_the_field() {
        let fine = Preferences {
            interests: vec!["jazz".into(); 50],
            price_range_min: Some(0),
            price_range_max: Some(PREFERRED_PRICE_MAX),
            ..Preferences::default()
        };
        assert_eq!(field(&fine), None);
        let many = Preferences { interests: vec!["jazz".into(); 51], ..fine.clone() };
        assert_eq!(field(&many), Some("interests"));
        let odd = Preferences { preferred_locations: vec!["Ber\0lin".into()], ..fine.clone() };
        assert_eq!(field(&odd), Some("preferred_locations"));
        let long = Preferences { preferred_categories: vec!["x".repeat(65)], ..fine.clone() };
        assert_eq!(field(&long), Some("preferred_categories"));
        let dear = Preferences { price_range_max: Some(PREFERRED_PRICE_MAX + 1), ..fine.clone() };
        assert_eq!(field(&dear), Some("price_range_max"));
        let cheap = Preferences { price_range_min: Some(-1), ..fine.clone() };
        assert_eq!(field(&cheap), Some("price_range_min"));
        let crossed = Preferences { price_range_min: Some(2), price_range_max: Some(1), ..fine.clone() };
        assert_eq!(field(&crossed), Some("price_range_max"));
        let notices = (0..33).map(|number| (number.to_string(), true)).collect();
        assert_eq!(
            field(&Preferences { notification_settings: notices, ..fine }),
            Some("notification_settings")
        );
    }
}
