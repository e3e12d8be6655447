//! The one list of kinds of listings. Whoever needs "one of each" (an enum, a dispatch) takes it from here: a new kind
//! is a line in this file and a folder of its own.

/// Calls `$then!` with every kind: number in the journal, variant, name, prefix of its ids, its letter
/// in the ids of what lives inside, state.
#[macro_export]
macro_rules! each_kind {
    ($then:ident) => {
        $then! {
            /// Reserved seats and general-admission places.
            0 Event event "evt" b'e' $crate::seats::Seats;
            /// Layouts that events share.
            1 Venue venue "ven" b'v' $crate::venue::Venue;
            /// Stock on sale.
            2 Sale sale "sal" b's' $crate::stock::Sale;
            /// Opens sales by a schedule.
            3 Series series "ser" b'h' $crate::series::Series;
            /// Stock with a limit of one and a waiting list.
            4 Registration registration "reg" b'r' $crate::registration::Registration;
            5 Auction auction "auc" b'a' $crate::auction::Auction;
            /// One per tenant: what is asked of payment providers.
            6 Desk desk "dsk" b'd' $crate::desk::Desk;
        }
    };
}

pub(crate) use each_kind;
