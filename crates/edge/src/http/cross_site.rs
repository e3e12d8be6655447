//! A browser sends a cookie whoever's page asks. What changes something and is opened by the cookie must come from a page of this
//! site: by the browser's own word, or by the origin that it names.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};

use super::gate;
use super::problem::{Problem, catalog};

/// From where a page asks, in a browser's own words; no page can write it.
pub const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a browser says where its page is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    Own,
    Other,
    /// No browser, or one that says nothing.
    Unsaid,
}

/// Refuses a change that only the cookie opens, unless it comes from a page of this site.
pub fn check(method: &Method, headers: &HeaderMap, uri: &Uri, has_tls: bool) -> Result<(), Problem> {
    if method.is_safe() || headers.contains_key(header::AUTHORIZATION) || gate::cookie(headers).is_none() {
        return Ok(());
    }
    match site(headers, uri, has_tls) {
        Site::Own => Ok(()),
        Site::Other | Site::Unsaid => Err(Problem::of(catalog::CROSS_SITE)),
    }
}

/// Refuses to put a session's cookie into a browser whose page is another site's: its reader would act under an account that is
/// not theirs. A program that says nothing of a site may have it.
pub fn check_new_cookie(headers: &HeaderMap, uri: &Uri, has_tls: bool) -> Result<(), Problem> {
    match site(headers, uri, has_tls) {
        Site::Own | Site::Unsaid => Ok(()),
        Site::Other => Err(Problem::of(catalog::CROSS_SITE)),
    }
}

fn site(headers: &HeaderMap, uri: &Uri, has_tls: bool) -> Site {
    if headers.contains_key(&SEC_FETCH_SITE) {
        let is_own = |value: &HeaderValue| matches!(value.as_bytes(), b"same-origin" | b"none");
        let all_own = headers.get_all(&SEC_FETCH_SITE).iter().all(is_own);
        return if all_own { Site::Own } else { Site::Other };
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Site::Unsaid };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| uri.authority().map(|authority| authority.as_str()));
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let is_own = origin.zip(host).is_some_and(|((scheme, named), host)| {
        // Behind a proxy that speaks TLS for us a page is at `https`, although nobody here has a certificate.
        named.eq_ignore_ascii_case(host) && (scheme == "https" || scheme == "http" && !has_tls)
    });
    if is_own { Site::Own } else { Site::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COOKIE: (&str, &str) = ("cookie", "__Host-onsale_session=onsale_ses_x");

    fn passes(method: Method, has_tls: bool, sent: &[(&str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in [("host", "shop.example:8080")].iter().chain(sent) {
            let name: HeaderName = name.parse().expect("a name");
            headers.append(name, value.parse().expect("a value"));
        }
        check(&method, &headers, &Uri::from_static("/v1/me"), has_tls).is_ok()
    }

    #[test]
    fn a_change_that_the_cookie_opens_comes_from_a_page_of_this_site() {
        for (sent, is_fine) in [
            (("sec-fetch-site", "same-origin"), true),
            (("sec-fetch-site", "none"), true),
            (("sec-fetch-site", "same-site"), false),
            (("sec-fetch-site", "cross-site"), false),
            (("sec-fetch-site", ""), false),
            (("origin", "http://shop.example:8080"), true),
            (("origin", "https://SHOP.example:8080"), true),
            (("origin", "http://shop.example"), false),
            (("origin", "http://shop.example:8080.evil.example"), false),
            (("origin", "null"), false),
            (("accept", "*/*"), false),
        ] {
            assert_eq!(passes(Method::POST, false, &[COOKIE, sent]), is_fine, "{sent:?}");
        }
        assert!(!passes(Method::DELETE, true, &[COOKIE, ("origin", "http://shop.example:8080")]));
        assert!(passes(Method::DELETE, true, &[COOKIE, ("origin", "https://shop.example:8080")]));
    }

    #[test]
    fn of_two_words_on_the_site_both_must_be_its_own() {
        let own = ("sec-fetch-site", "same-origin");
        assert!(!passes(Method::POST, false, &[COOKIE, own, ("sec-fetch-site", "cross-site")]));
        let origin = ("origin", "http://shop.example:8080");
        assert!(!passes(Method::POST, false, &[COOKIE, ("sec-fetch-site", "cross-site"), origin]));
    }

    #[test]
    fn what_changes_nothing_or_is_not_opened_by_the_cookie_may_come_from_anywhere() {
        let other = ("sec-fetch-site", "cross-site");
        assert!(passes(Method::GET, false, &[COOKIE, other]));
        assert!(passes(Method::POST, false, &[other]));
        assert!(passes(Method::POST, false, &[("cookie", "theme=dark"), other]));
        assert!(passes(Method::POST, false, &[COOKIE, other, ("authorization", "Bearer onsale_ses_x")]));
    }
}
