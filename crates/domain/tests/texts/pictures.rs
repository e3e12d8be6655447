//! Pictures of items: an address or a drawing.

use onsale_domain::drawing::check;
use onsale_domain::field::Field;

fn fits(picture: &str) -> bool {
    check(Field::SkuPicture.at(&[0]), Some(picture)).is_ok()
}

#[test]
fn a_picture_is_an_https_address_or_a_drawing() {
    for good in ["https://cdn.example/mug.png?w=64#x", "<svg>\n\t<g/></svg>", "<svg viewBox='0 0 1 1'></svg>"]
    {
        assert!(fits(good), "{good}");
    }
    let bad = [
        "",
        "http://cdn.example/mug.png",
        "https://",
        "https:///mug.png",
        "https://ann@cdn.example/",
        "javascript:x",
        "data:image/png;base64,AA",
        "/mug.png",
        "https://cdn.example/a b",
        "https://cdn.example/\"",
        "<svgx></svg>",
        "<script></script>",
        "<svg>",
        "<svg>\0</svg>",
        "HTTPS://cdn.example/",
    ];
    for bad in bad {
        assert!(!fits(bad), "{bad}");
    }
    assert!(check(Field::SkuPicture.at(&[0]), None).is_ok());
}

#[test]
fn a_picture_is_bounded_to_the_byte() {
    let url = |bytes: usize| format!("https://a/{}", "x".repeat(bytes - 10));
    let svg = |bytes: usize| format!("<svg>{}</svg>", "x".repeat(bytes - 11));
    assert!(fits(&url(2_048)) && !fits(&url(2_049)));
    assert!(fits(&svg(4_096)) && !fits(&svg(4_097)));
}
