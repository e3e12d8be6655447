//! Pictures of items: an address elsewhere, or a drawing that is served here and can do nothing.

use serde_json::{Value, json};

use super::shop::Shop;

/// All that a drawing could do, were it believed: scripts, handlers, foreign pages, a form.
const HOSTILE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"fetch('/v1/sales')\">\n\
    <script>alert(document.cookie)</script><image href=\"https://evil.example/x.png\"/>\
    <foreignObject><iframe src=\"https://evil.example\"/></foreignObject></svg>";

fn skus(pictures: &[(&str, Option<&str>)]) -> Value {
    let sku = |(id, picture): &(&str, Option<&str>)| {
        let mut sku = json!({"id": id, "name": "Thing", "price_minor": 1, "stock": 1});
        if let Some(picture) = picture {
            sku["picture"] = json!(picture);
        }
        sku
    };
    json!({"skus": pictures.iter().map(sku).collect::<Vec<_>>()})
}

#[test]
fn an_item_is_shown_where_its_seller_says_or_as_its_seller_drew_it() {
    let address = "https://cdn.example/mug.png?w=64";
    let shop = Shop::with(skus(&[("mug", Some(address)), ("a/ü 1", Some("<svg>\n</svg>")), ("tee", None)]));
    let path = format!("/v1/sales/{}", shop.sale);
    let shown = shop.house.get(&path).json();
    let pictures: Vec<_> = (0..3).map(|n| shown["skus"][n]["picture"].clone()).collect();
    let drawn = format!("/pictures/{}/a%2F%C3%BC%201.svg", shop.sale);
    assert_eq!(pictures, [json!(address), json!(drawn), json!(null)]);
    let seen = shop.house.send("GET", &drawn, &[("authorization", "none")], None);
    assert_eq!((seen.status, seen.body.as_slice()), (200, b"<svg>\n</svg>".as_slice()));
    for elsewhere in ["mug", "tee", "hat"] {
        let path = format!("/pictures/{}/{elsewhere}.svg", shop.sale);
        shop.house.get(&path).problem(404, "sku_unknown");
    }
    let cap = json!({"id": "cap", "name": "Cap", "price_minor": 1, "stock": 1, "picture": "<svg></svg>"});
    let added = shop.house.post(&format!("{path}/skus"), &[], cap).json();
    assert_eq!(added["picture"], json!(format!("/pictures/{}/cap.svg", shop.sale)));
    assert_eq!(shop.house.get(&path).json()["skus"][3], added);
}

#[test]
fn a_hostile_drawing_is_kept_as_it_is_and_can_do_nothing() {
    let shop = Shop::with(skus(&[("trap", Some(HOSTILE))]));
    let path = format!("/pictures/{}/trap.svg", shop.sale);
    let seen = shop.house.send("GET", &path, &[("authorization", "none")], None);
    assert_eq!((seen.status, seen.body.as_slice()), (200, HOSTILE.as_bytes()));
    for (name, value) in [
        ("content-type", "image/svg+xml"),
        ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(seen.header(name), Some(value), "{name}");
    }
}

#[test]
fn a_picture_that_is_neither_address_nor_drawing_is_refused() {
    let shop = Shop::open();
    let long = format!("https://cdn.example/{}", "x".repeat(2_048));
    let large = format!("<svg>{}</svg>", "x".repeat(4_086));
    for picture in [
        "",
        "http://cdn.example/a.png",
        "javascript:alert(1)",
        "data:text/html,x",
        "<html></html>",
        &long,
        &large,
    ] {
        let sale = shop.drop(skus(&[("a", None), ("b", Some(picture))]));
        let told = shop.house.post("/v1/sales", &[], sale).problem(422, "invalid");
        assert_eq!(told["field"], "skus[1].picture", "{picture}: {told}");
        let series = json!({"name": "s", "currency": "EUR", "items": [{"price_minor": 1, "stock": 1, "picture": picture}]});
        let told = shop.house.post("/v1/series", &[], series).problem(422, "invalid");
        assert_eq!(told["field"], "items[0].picture", "{picture}: {told}");
    }
}

#[test]
fn a_hundred_drawings_of_the_largest_kind_fit_into_one_sale() {
    let large = format!("<svg>{}</svg>", "x".repeat(4_085));
    let ids: Vec<String> = (0..100).map(|n| format!("i{n}")).collect();
    let all: Vec<_> = ids.iter().map(|id| (id.as_str(), Some(large.as_str()))).collect();
    let shop = Shop::with(skus(&all));
    let seen = shop.house.get(&format!("/pictures/{}/i99.svg", shop.sale));
    assert_eq!((seen.status, seen.body.len()), (200, 4_096));
}
