//! The one list of kinds of listings. Whoever needs "one of each" (an enum, a dispatch) takes it from here: a new kind
//! is a line in this file and a folder of its own.

/// Calls `$then!` with every kind: number in the journal, variant, name, prefix of its ids, state.
#[macro_export]
macro_rules! each_kind {
    ($then:ident) => {
        $then! {
            /// Reserved seats and general-admission places.
            0 Event event "evt" $crate::seats::Seats;
            /// Layouts that events share.
            1 Venue venue "ven" $crate::venue::Venue;
            /// Stock on sale.
            2 Sale sale "sal" $crate::stock::Sale;
            /// Opens sales by a schedule.
            3 Series series "ser" $crate::series::Series;
            /// Stock with a limit of one and a waiting list.
            4 Registration registration "reg" $crate::registration::Registration;
            5 Auction auction "auc" $crate::auction::Auction;
            /// One per tenant: what is asked of payment providers.
            6 Desk desk "dsk" $crate::desk::Desk;
        }
    };
}

pub(crate) use each_kind;
