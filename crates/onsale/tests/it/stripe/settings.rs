//! The configuration of Stripe as an operator meets it: what is missing or wrong is named, and no secret is shown.

use crate::config::{onsale, refused};

#[test]
fn what_is_missing_or_wrong_is_named_and_never_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("key"), "sk_test_from_a_file\n").expect("written");
    std::fs::write(folder.path().join("empty"), "\n").expect("written");
    let key = ("ONSALE_STRIPE__SECRET_KEY", "sk_test_hidden");
    let hook = ("ONSALE_STRIPE__WEBHOOK_SECRET", "whsec_hidden");
    let table: [(&[(&str, &str)], &str); 10] = [
        (&[], "needs stripe.secret_key"),
        (&[key], "needs stripe.webhook_secret"),
        (&[("ONSALE_STRIPE__SECRET_KEY", "pk_test_hidden"), hook], "publishable"),
        (&[key, ("ONSALE_STRIPE__WEBHOOK_SECRET", "hidden")], "must begin with whsec_"),
        (&[key, hook, ("ONSALE_STRIPE__SECRET_KEY_FILE", "key")], "both set"),
        (&[hook, ("ONSALE_STRIPE__SECRET_KEY_FILE", "nothing")], "stripe.secret_key_file = nothing"),
        (&[hook, ("ONSALE_STRIPE__SECRET_KEY_FILE", "empty")], "must begin with sk_"),
        (&[key, hook, ("ONSALE_STRIPE__BASE_URL", "http://api.example.com")], "stripe.base_url"),
        (&[key, hook, ("ONSALE_STRIPE__BASE_URL", "http://127.0.0.1@example.com")], "stripe.base_url"),
        (&[key, hook, ("ONSALE_STRIPE__RETURN_URL", "shop")], "stripe.return_url"),
    ];
    for (more, expected) in table {
        let environment = [&[("ONSALE_PAYMENTS__PROVIDER", "stripe")], more].concat();
        let told = refused(folder.path(), &["serve"], &environment);
        assert!(told.contains(expected), "{more:?}: {told}");
        assert!(!told.contains("hidden"), "{told}");
    }
    let good = [("ONSALE_PAYMENTS__PROVIDER", "stripe"), hook, ("ONSALE_STRIPE__SECRET_KEY_FILE", "key")];
    let output = onsale(folder.path(), &["config"], &good);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains("provider = \"stripe\"") && text.contains("webhook_secret = \"********\""),
        "{text}"
    );
    assert!(!text.contains("hidden") && !text.contains("from_a_file"), "{text}");
    let told = refused(folder.path(), &["config"], &[("ONSALE_STRIPE__KEY", "sk_test_hidden")]);
    assert!(told.contains("secret_key") && !told.contains("hidden"), "{told}");
}
