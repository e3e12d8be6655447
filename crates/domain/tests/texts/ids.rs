//! Ids as texts, and who a buyer may be called.

use onsale_domain::id::{
    BuyerId, LISTING_NUMBERS, ListingId, ListingKind, Tenant, read_digits, read_inside, read_inside_of,
    write_inside,
};

#[test]
fn an_id_reads_back_as_it_was_written() {
    for number in [0, 1, LISTING_NUMBERS - 1, 0x0123_4567_89ab_cdef] {
        for (kind, tenant) in ListingKind::ALL.into_iter().zip([0, 1, 77, (1 << 20) - 1].into_iter().cycle())
        {
            let tenant = Tenant::new(tenant).expect("a tenant");
            let listing = ListingId { tenant, kind, number };
            let text = listing.to_string();
            assert_eq!((ListingId::parse(&text), text.len()), (Some(listing), 20));
            for own in [0, number ^ 7, u64::MAX] {
                let inside = write_inside("cod", &listing, own);
                assert_eq!((read_inside("cod", &inside), inside.len()), (Some((listing, own)), 34));
                for other in ListingKind::ALL {
                    let found = read_inside_of(other, "cod", &inside);
                    assert_eq!(found, (other == kind).then_some((listing, own)));
                }
            }
        }
    }
    let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 33 };
    assert_eq!(write_inside("hld", &listing, 35), "hld_0000000000000011e0000000000013");
}

#[test]
fn a_kind_is_known_by_its_prefix_and_by_its_letter() {
    for (n, kind) in ListingKind::ALL.into_iter().enumerate() {
        assert!(read_digits(&[kind.letter()]).is_some() && kind.prefix().len() == 3);
        for other in &ListingKind::ALL[..n] {
            assert!(kind.letter() != other.letter() && kind.prefix() != other.prefix());
        }
    }
    assert_eq!(Tenant::new(1 << 20), None);
}

#[test]
fn a_foreign_id_is_not_read() {
    for text in [
        "",
        "evt",
        "evt_",
        "evt_0000",
        "evt_000000000000000",
        "evt_00000000000000000",
        "evt_000000000000000u",
        "evt_000000000000000A",
        "evt_0000000000000_00",
        "evt-0000000000000000",
        "xyz_0000000000000000",
        "evt_00000000000000é",
    ] {
        assert_eq!(ListingId::parse(text), None, "{text}");
    }
    for text in [
        "",
        "hld_",
        "hld_0000000000000000",
        "hld_0000000000000000e",
        "hld_0000000000000000e000000000000",
        "hld_0000000000000000e00000000000000",
        "hld_0000000000000000eg000000000000",
        "hld_0000000000000000x0000000000000",
        "hld_0000000000000000E0000000000000",
        "hld_000000000000000\u{e9}0000000000000",
        "ord_0000000000000000e0000000000000",
    ] {
        assert_eq!(read_inside("hld", text), None, "{text}");
    }
}

#[test]
fn a_buyer_has_no_control_characters_and_a_bounded_name() {
    for (text, fits) in [("usr_1", true), ("", false), ("a\nb", false), ("ext:t:é{}", true)] {
        assert_eq!(BuyerId::parse(text).is_some(), fits, "{text:?}");
    }
    assert!(BuyerId::parse(&"é".repeat(128)).is_some());
    assert!(BuyerId::parse(&"é".repeat(129)).is_none());
}
