//! Cookies of a browser that is signed in. Their names begin with `__Host-`, so that they are bound to this host, every path and HTTPS
//! (browsers count `localhost` as such); scripts cannot read them, and other sites' pages send them with links alone.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use onsale_access::secrets::Secret;

use crate::http::gate::{SESSION_COOKIE, cookie_named};

/// What a device keeps when it signs out, so that the next sign-in there is no news. It opens nothing.
const DEVICE_COOKIE: &str = "__Host-onsale_device";
/// The longest that browsers keep a cookie: 400 days.
const DEVICE_SECONDS: i64 = 400 * 24 * 3_600;

pub fn device(headers: &HeaderMap) -> Option<&str> {
    cookie_named(headers, DEVICE_COOKIE)
}

/// Gives the session to the browser: until it is closed, or for these seconds.
pub fn set_session(response: &mut Response, token: &Secret, seconds: Option<i64>) {
    put(response, SESSION_COOKIE, &token.text(), seconds);
}

pub fn set_device(response: &mut Response, token: &Secret) {
    put(response, DEVICE_COOKIE, &token.text(), Some(DEVICE_SECONDS));
}

/// Takes the session from the browser.
pub fn clear_session(response: &mut Response) {
    put(response, SESSION_COOKIE, "", Some(0));
}

fn put(response: &mut Response, name: &str, value: &str, seconds: Option<i64>) {
    let age = seconds.map_or(String::new(), |seconds| format!("; Max-Age={seconds}"));
    let text = format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Lax{age}");
    if let Ok(mut value) = HeaderValue::try_from(text) {
        value.set_sensitive(true);
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}
