//! The server over HTTP; filled in with the server.
