//! What answers say beside what was asked for: the venue's name, what is left, and what it costs at least. It is read from
//! views, and nothing is decided by it.

use serde_json::{Value, json};

use crate::house::{House, layout};
use crate::registrations::Course;
use crate::sales::shop::Shop;

/// Two seats at 45.00 and a floor for one at 20.00.
fn small() -> Value {
    let seat = |n: u32| json!({"id": format!("A-{n}"), "label": n.to_string(), "tier": 0, "x": n, "y": 0});
    json!({
        "sections": [{"name": "A", "rows": [{"label": "1", "seats": [seat(1), seat(2)]}]}],
        "areas": [{"id": "floor", "label": "Standing", "section": "A", "tier": 1, "capacity": 1}],
    })
}

#[test]
fn an_event_tells_the_least_price_of_what_is_left_and_whether_anything_is() {
    let house = House::open();
    let event = house.event_with(json!({"layout": small()}));
    let path = format!("/v1/events/{event}");
    let told = || {
        let shown = house.get(&path).json();
        let listed = house.get("/v1/events").json()["data"][0].clone();
        assert_eq!(shown, listed, "shown and listed alike");
        (shown["price_from_minor"].clone(), shown["sold_out"].clone())
    };
    assert_eq!(told(), (json!(2000), json!(null)));
    let floor = json!({"areas": [{"area": "floor", "count": 1}]});
    assert_eq!(house.post(&format!("{path}/holds"), &[("onsale-buyer", "ann")], floor).status, 201);
    assert_eq!(told(), (json!(4500), json!(null)), "the floor is held");
    let hold = house.hold(&event, "bob", &["A-1", "A-2"]);
    assert_eq!(told(), (json!(null), json!("for_now")), "a hold may come back");
    let own = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
    let token = [("hold-token", hold["token"].as_str().expect("a token"))];
    let released = house.send("DELETE", &own, &token, None);
    assert!((200..300).contains(&released.status), "{released:?}");
    assert_eq!(told(), (json!(4500), json!(null)));
    assert_eq!(house.send("PATCH", &path, &[], Some("{\"status\": \"closed\"}")).status, 200);
    assert_eq!(told(), (json!(null), json!(null)), "nothing can be had any more");
}

#[test]
fn an_event_tells_what_its_venue_is_called() {
    let house = House::open();
    let venue = json!({"name": "Old Hall", "place": "Oslo", "layout": layout()});
    let venue = house.post("/v1/venues", &[], venue).json()["id"].clone();
    let wish = json!({
        "name": "Night", "venue": venue, "starts_at": "2096-10-02T07:06:40Z", "ends_at": "2096-10-02T09:53:20Z",
        "currency": "EUR", "tiers": [{"name": "S", "price_minor": 300}, {"name": "F", "price_minor": 200}],
    });
    let key = [("idempotency-key", "one")];
    let made = house.post("/v1/events", &key, wish.clone());
    let told = made.json();
    assert_eq!((&told["venue_name"], &told["price_from_minor"]), (&json!("Old Hall"), &json!(200)), "{told}");
    assert_eq!(house.post("/v1/events", &key, wish).body, made.body, "the same again");
    let path = format!("/v1/events/{}", told["id"].as_str().expect("an id"));
    assert_eq!(house.get(&path).json()["venue_name"], "Old Hall");
    let own = house.event();
    assert_eq!(house.get(&format!("/v1/events/{own}")).json()["venue_name"], Value::Null);
}

#[test]
fn a_sale_tells_the_least_price_of_what_is_left() {
    let shop = Shop::open();
    let told = || (shop.sale()["price_from_minor"].clone(), shop.sale()["sold_out"].clone());
    assert_eq!(told(), (json!(900), json!(null)));
    shop.checkout("ann", &[("mug", 3)]);
    assert_eq!(told(), (json!(1900), json!(null)));
    shop.checkout("bob", &[("tee", 10)]);
    assert_eq!(told(), (json!(null), json!("for_now")));
    let later = shop.another(json!({"starts_in_ms": 60_000}));
    let later = format!("/v1/sales/{later}");
    assert_eq!(shop.house.get(&later).json()["price_from_minor"], 900, "before it opens as well");
    assert_eq!(shop.house.send("PATCH", &later, &[], Some("{\"status\": \"cancelled\"}")).status, 200);
    assert_eq!(shop.house.get(&later).json()["price_from_minor"], Value::Null);
}

#[test]
fn a_registration_tells_its_free_places_and_whether_it_is_full() {
    let course = Course::open(json!({"capacity": 2, "price_minor": 500}));
    let told = || {
        let shown = course.house.get(&course.path("")).json();
        assert_eq!(shown, course.house.get("/v1/registrations").json()["data"][0], "shown and listed alike");
        let field = |name: &str| shown[name].clone();
        (field("available_spots"), field("is_full"), field("price_from_minor"))
    };
    assert_eq!(told(), (json!(2), json!(false), json!(500)));
    let first = course.register("ann").json();
    assert_eq!(first["status"], "offered");
    assert_eq!(told(), (json!(1), json!(false), json!(500)), "an offered place is kept");
    course.register("bob");
    assert_eq!(told(), (json!(0), json!(true), json!(null)));
    course.register("cem");
    assert_eq!(course.cancel(&first, &[("onsale-buyer", "ann")]).status, 200);
    assert_eq!(told(), (json!(0), json!(true), json!(null)), "the next in line has it");
    assert_eq!(course.patch(json!({"capacity": 4})).status, 200);
    assert_eq!(told(), (json!(2), json!(false), json!(500)));
    assert_eq!(course.patch(json!({"status": "closed"})).status, 200);
    assert_eq!(told(), (json!(2), json!(false), json!(null)), "nobody registers any more");
}
