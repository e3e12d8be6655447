//! An object is an object wherever it stands: a list of what its fields could be is none.

use serde_json::json;

use crate::house::House;

#[test]
fn a_list_is_never_taken_for_an_object() {
    let house = House::open();
    let holds = format!("/v1/events/{}/holds", house.event());
    for (path, body, pointer) in [
        (&*holds, json!({"areas": [["floor", 1]]}), "/areas/0"),
        (&holds, json!({"best_available": [1]}), "/best_available"),
        (&holds, json!({"best_available": []}), "/best_available"),
        ("/v1/sales", json!({"skus": [["a", "A", 100, 5]]}), "/skus/0"),
        ("/v1/venues", json!({"name": "Hall", "layout": [[], []]}), "/layout"),
        ("/v1/events", json!({"card": []}), "/card"),
        ("/v1/events", json!({"card": {"coordinates": [38.7, -9.1]}}), "/card/coordinates"),
    ] {
        let told = house.post(path, &[("onsale-buyer", "ann")], body).problem(422, "invalid");
        assert_eq!(told["pointer"], pointer, "{told}");
        assert_eq!(told["detail"], "must be an object, not a list", "{told}");
    }
    let auction = json!({
        "name": "Vase", "seller": "eve", "currency": "EUR", "starts_at": "2096-10-02T07:06:40Z",
        "ends_at": "2096-10-03T07:06:40Z", "start_minor": 100, "increment": [[0, 5]],
    });
    let told = house.post("/v1/auctions", &[], auction).problem(422, "invalid");
    assert_eq!(told["pointer"], "/increment", "{told}");
    let form = r#"or a list like [{"from_minor": 0, "step_minor": 50}]"#;
    assert!(told["detail"].as_str().is_some_and(|detail| detail.ends_with(form)), "{told}");
    // What is only kept may have any shape inside.
    house.event_with(json!({"metadata": {"seen": [[1, {}], []]}}));
}
