//! A number that cannot be is told the bounds of the rules, and never those of a type.

use serde_json::{Value, json};

use crate::house::House;

#[test]
fn a_number_that_cannot_be_is_told_the_bounds_of_the_rules() {
    let house = House::open();
    let holds = format!("/v1/events/{}/holds", house.event());
    let big: Value = serde_json::from_str("1e25").expect("a number");
    let seat =
        |x: i64| json!({"layout": {"sections": [{"name": "A", "rows": [{"seats": [{"id": "1", "x": x}]}]}]}});
    for (path, body, pointer, detail) in [
        (
            "/v1/events",
            json!({"buyer_limit": 99_999_999_999_i64}),
            "/buyer_limit",
            "must be a whole number from 1 to 50, not the number 99999999999",
        ),
        (
            "/v1/events",
            json!({"extensions_max": 300}),
            "/extensions_max",
            "must be a whole number from 0 to 10, not the number 300",
        ),
        (
            "/v1/events",
            json!({"tiers": [{"name": "A", "price_minor": big}]}),
            "/tiers/0/price_minor",
            "must be a whole number from 0 to 1,000,000,000,000, not the number 1e+25",
        ),
        (
            &holds,
            json!({"areas": [{"area": "floor", "count": -1}]}),
            "/areas/0/count",
            "must be a whole number from 1 to 100,000, not the number -1",
        ),
        (
            "/v1/venues",
            seat(3_000_000_000),
            "/layout/sections/0/rows/0/seats/0/x",
            "must be a smaller whole number, not the number 3000000000",
        ),
        (
            "/v1/venues",
            seat(-3_000_000_000),
            "/layout/sections/0/rows/0/seats/0/x",
            "must be a larger whole number, not the number -3000000000",
        ),
    ] {
        let told = house.post(path, &[("onsale-buyer", "ann")], body).problem(422, "invalid");
        assert_eq!((&told["pointer"], &told["detail"]), (&json!(pointer), &json!(detail)), "{told}");
    }
}
