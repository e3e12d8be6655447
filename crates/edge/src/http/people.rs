//! People: accounts, sessions, guests, what a person says of themselves, and their roles. What is decided is decided in
//! `onsale-access`; here requests are read and answers written.

pub mod accounts;
pub mod asking;
pub mod cookies;
pub mod email;
pub mod export;
pub mod favourites;
pub mod guests;
pub mod me;
pub mod password;
pub mod preferences;
pub mod refused;
pub mod roles;
pub mod sessions;
pub mod users;
pub mod wire;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;

use super::table::{RouteDeclaration, declare};

pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("accounts.register", accounts::register, Anybody, Auth, keyed, of_people),
        declare!("accounts.verify", accounts::verify, Anybody, Auth),
        declare!("sessions.create", sessions::create, Anybody, Auth),
        declare!("sessions.list", sessions::list, Person, Read),
        declare!("sessions.show", sessions::show, Person, Read),
        declare!("sessions.end", sessions::end, Person, Buy, repeatable),
        declare!("sessions.end_all", sessions::end_all, Person, Buy, repeatable),
        declare!("sessions.rotate", sessions::rotate, Person, Buy, repeatable),
        declare!("guests.create", guests::create, Anybody, Auth),
        declare!("me.show", me::show, Read, Read),
        declare!("me.delete", me::delete, Person, Auth, repeatable),
        declare!("me.export", export::export, Person, Search),
        declare!("me.change_password", password::change, Person, Auth, keyed, of_people),
        declare!("password_resets.create", password::ask_for_reset, Anybody, Auth),
        declare!("password_resets.use", password::use_reset, Anybody, Auth),
        declare!("me.change_email", email::ask, Person, Auth, keyed, of_people),
        declare!("email_changes.use", email::confirm, Anybody, Auth),
        declare!("me.preferences", preferences::show, Person, Read),
        declare!("me.set_preferences", preferences::set, Person, Buy, repeatable),
        declare!("me.favourites", favourites::list, Person, Read),
        declare!("me.add_favourite", favourites::add, Person, Buy, repeatable),
        declare!("me.remove_favourite", favourites::remove, Person, Buy, repeatable),
        declare!("users.list", users::list, Access, Staff),
        declare!("users.find", users::find, Access, Staff, repeatable),
        declare!("users.show", users::show, Access, Staff),
        declare!("users.give_role", roles::give, Access, Staff, repeatable),
        declare!("users.take_role", roles::take, Access, Staff, repeatable),
        declare!("users.disable", users::disable, Access, Staff, repeatable),
        declare!("users.enable", users::enable, Access, Staff, repeatable),
    ]
}

/// A yes with nothing to show.
fn done() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
