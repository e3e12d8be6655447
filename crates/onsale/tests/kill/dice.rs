//! Where crowds get their chance from: the same every day, so that a test is red because of a change and not because of luck.
//! `ONSALE_SEED=<number>` sends another crowd, `ONSALE_SEED=fresh` a new one.

const DAILY: u64 = 1;

/// Printed, so that what it brought about can be had again.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("ONSALE_SEED").unwrap_or_default();
    let seed = match given.as_str() {
        "" => DAILY,
        "fresh" => rand::random(),
        number => number.parse().expect("ONSALE_SEED is a number or `fresh`"),
    };
    println!("ONSALE_SEED={seed}");
    seed
}
