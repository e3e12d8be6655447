//! A house with one sale: ten shirts (`tee`) and three mugs, an hour long.

use onsale_edge::http::time::Time;
use onsale_engine::Engine;
use serde_json::{Value, json};

use crate::house::{Answer, House};
use crate::memory::Memory;

pub(crate) struct Shop<E = Memory> {
    pub house: House<E>,
    pub sale: String,
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

impl Shop {
    pub(crate) fn open() -> Shop {
        Shop::with(json!({}))
    }

    /// `starts_in_ms` counts from now; everything else is as the route takes it.
    pub(crate) fn with(more: Value) -> Shop {
        Shop::of(House::open(), more)
    }
}

impl<E: Engine> Shop<E> {
    pub(crate) fn of(house: House<E>, more: Value) -> Shop<E> {
        let mut shop = Shop { house, sale: String::new() };
        shop.sale = shop.another(more);
        shop
    }

    pub(crate) fn another(&self, more: Value) -> String {
        let made = self.house.post("/v1/sales", &[], self.drop(more));
        assert_eq!(made.status, 201, "{made:?}");
        text(&made.json(), "id").to_owned()
    }

    /// What is asked for to make a sale.
    pub(crate) fn drop(&self, more: Value) -> Value {
        let start = self.house.engine.now() + more["starts_in_ms"].as_i64().unwrap_or(-1);
        let mut sale = json!({
            "name": "Drop", "starts_at": Time(start), "ends_at": Time(start + 3_600_000), "currency": "EUR",
            "skus": [{"id": "tee", "name": "Shirt", "price_minor": 1900, "stock": 10},
                     {"id": "mug", "name": "Mug", "price_minor": 900, "stock": 3}],
        });
        for (name, value) in more.as_object().expect("an object") {
            if name != "starts_in_ms" {
                sale[name] = value.clone();
            }
        }
        sale
    }

    pub(crate) fn sale(&self) -> Value {
        self.house.get(&format!("/v1/sales/{}", self.sale)).json()
    }

    /// Available, reserved and sold of a SKU; they add up to its stock.
    pub(crate) fn levels(&self, sku: &str) -> (u64, u64, u64) {
        let sale = self.sale();
        let found = sale["skus"].as_array().expect("SKUs").iter().find(|known| known["id"] == sku);
        let found = found.unwrap_or_else(|| panic!("{sku} in {sale}"));
        let count = |name: &str| found[name].as_u64().expect("a count");
        let levels = (count("available"), count("reserved"), count("sold"));
        assert_eq!(levels.0 + levels.1 + levels.2, count("stock"), "{found}");
        levels
    }

    pub(crate) fn try_checkout(&self, buyer: &str, body: Value) -> Answer {
        self.house.post(&format!("/v1/sales/{}/checkouts", self.sale), &[("onsale-buyer", buyer)], body)
    }

    /// The answer must be a yes.
    pub(crate) fn checkout(&self, buyer: &str, lines: &[(&str, u32)]) -> Value {
        let lines: Vec<_> = lines.iter().map(|(sku, count)| json!({"sku": sku, "count": count})).collect();
        let answer = self.try_checkout(buyer, json!({"lines": lines}));
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    }

    pub(crate) fn purchase(&self, checkout: &Value, headers: &[(&str, &str)]) -> Answer {
        self.with_code(checkout, text(checkout, "code"), "purchase", headers, json!({"paid_elsewhere": true}))
    }

    pub(crate) fn cancel(&self, checkout: &Value, headers: &[(&str, &str)]) -> Answer {
        self.with_code(checkout, text(checkout, "code"), "cancel", headers, json!({}))
    }

    pub(crate) fn with_code(
        &self,
        checkout: &Value,
        code: &str,
        verb: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Answer {
        let headers = [headers, &[("checkout-code", code)]].concat();
        self.house.post(&format!("/v1/checkouts/{}/{verb}", text(checkout, "id")), &headers, body)
    }

    /// The checkout as it is shown to who has its code.
    pub(crate) fn show(&self, checkout: &Value) -> Answer {
        let path = format!("/v1/checkouts/{}", text(checkout, "id"));
        self.house.send("GET", &path, &[("checkout-code", text(checkout, "code"))], None)
    }
}
