//! The scripts of the other kinds of listings: one a verb, over the fragments of its kind. Creating one stands alone, and
//! so do the checkout and the bid that most buyers ask for.

use super::Source;

macro_rules! kind {
    ($verb:ident $sources:ident $over:ident [$($name:ident: $($file:literal)+;)*] [$($alone:ident: $($part:literal)*;)*]) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $verb { $($name,)* $($alone,)* }

        /// In the order of the verbs.
        pub const $sources: &[Source] = &[$($over!($($file)+),)* $(lua!($($part)*),)*];
    };
}

macro_rules! of_sale {
    ($($file:literal)+) => {
        lua!("lib/open" "lib/head" "lib/replay" "lib/codes" "lib/later" "lib/args" "lib/sale_rules" "lib/sale_state" "lib/ended"
            "lib/order_ends" "lib/sale_expire" "lib/log" "lib/sale_commit" "lib/answers" "lib/sale_codes" $($file)+)
    };
}

macro_rules! of_series {
    ($file:literal) => {
        lua!("lib/open" "lib/head" "lib/replay" "lib/codes" "lib/later" "lib/args" "lib/series" "lib/log" "lib/series_commit"
            "lib/answers" $file)
    };
}

macro_rules! of_registration {
    ($($file:literal)+) => {
        lua!("lib/open" "lib/head" "lib/replay" "lib/codes" "lib/args" "lib/registration" "lib/order_ends"
            "lib/registration_ends" "lib/log" "lib/registration_commit" "lib/answers" "lib/registered" $($file)+)
    };
}

macro_rules! of_auction {
    ($($file:literal)+) => {
        lua!("lib/open" "lib/head" "lib/replay" "lib/codes" "lib/later" "lib/args" "lib/auction" "lib/order_ends"
            "lib/auction_close" "lib/log" "lib/auction_commit" "lib/answers" $($file)+)
    };
}

kind! {
    SaleVerb SALES of_sale [
        Change: "change_sale";
        AddSku: "add_sku";
        AddStock: "add_stock";
        WithdrawStock: "withdraw_stock";
        ChangePrice: "change_price";
        Close: "close_sale";
        Cancel: "cancel_sale";
        Checkout: "checkout";
        CancelCheckout: "cancel_checkout";
        OrderCheckout: "lib/order_guard" "lib/order_guard_code" "order_checkout";
        ReturnCheckout: "lib/order_guard" "lib/order_guard_code" "return_checkout";
        Purchase: "lib/order_guard" "lib/order_guard_code" "purchase";
        TakeBack: "lib/order_guard" "lib/order_guard_code" "take_back_purchase";
        Refund: "lib/order_guard" "lib/order_book" "refund_purchase";
        Expire: "lib/order_guard" "lib/order_book" "expire_checkouts";
        PlaceOrder: "lib/order_guard" "lib/order_book" "lib/order_codes" "place_order";
        PayOrder: "lib/order_guard" "lib/order_book" "lib/order_codes" "lib/order_paying" "pay_order";
        CancelOrder: "lib/order_guard" "lib/order_book" "lib/order_codes" "lib/order_paying" "cancel_order";
        NotePayment: "lib/order_guard" "lib/order_book" "lib/order_codes" "note_payment";
        NoteRefund: "lib/order_guard" "lib/order_book" "note_refund";
    ] [
        Create: "lib/open" "lib/head" "lib/replay" "lib/args" "lib/write_new" "create_sale";
        PlainCheckout: "plain_checkout";
    ]
}

macro_rules! of_desk {
    ($($file:literal)+) => {
        lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/write_new" $($file)+)
    };
}

kind! {
    DeskVerb DESKS of_desk [
        Append: "append_desk";
    ] [
        Lease: "take_lease";
    ]
}

kind! {
    SeriesVerb SERIES of_series [
        Change: "change_series";
        OpenSlot: "open_slot";
        SkipSlots: "skip_slots";
        Pause: "pause_series";
        Resume: "resume_series";
        End: "end_series";
        Sweep: "sweep_series";
    ] [
        Create: "lib/open" "lib/head" "lib/replay" "lib/args" "lib/write_new" "create_series";
    ]
}

kind! {
    RegistrationVerb REGISTRATIONS of_registration [
        Change: "change_registration";
        ChangeCapacity: "change_capacity";
        Close: "close_registration";
        Cancel: "cancel_registration";
        Register: "register";
        Confirm: "lib/order_guard" "lib/order_guard_entry" "confirm_entry";
        CancelEntry: "lib/order_guard" "lib/order_guard_entry" "lib/order_book" "cancel_entry";
        Expire: "lib/order_guard" "lib/order_book" "expire_offers";
        PlaceOrder: "lib/order_guard" "lib/order_book" "lib/order_kept" "lib/order_places" "place_order";
        PayOrder: "lib/order_guard" "lib/order_book" "lib/order_kept" "lib/order_places" "lib/order_paying" "pay_order";
        CancelOrder: "lib/order_guard" "lib/order_book" "lib/order_kept" "lib/order_places" "lib/order_paying" "cancel_order";
        NotePayment: "lib/order_guard" "lib/order_book" "lib/order_kept" "lib/order_places" "note_payment";
        NoteRefund: "lib/order_guard" "lib/order_book" "note_refund";
    ] [
        Create: "lib/open" "lib/head" "lib/replay" "lib/args" "lib/write_new" "create_registration";
    ]
}

kind! {
    AuctionVerb AUCTIONS of_auction [
        Change: "change_auction";
        Cancel: "cancel_auction";
        PlaceBid: "place_bid";
        BuyNow: "buy_now";
        Retract: "retract_bid";
        Ban: "ban_bidder";
        Unban: "unban_bidder";
        Settle: "lib/order_guard" "lib/order_guard_award" "settle_award";
        Decline: "lib/order_guard" "lib/order_guard_award" "decline_award";
        Refund: "lib/order_guard" "lib/order_book" "refund_award";
        Watch: "watch_auction";
        Unwatch: "unwatch_auction";
        Close: "close_auction";
        PlaceOrder: "lib/order_guard" "lib/order_book" "lib/order_kept" "lib/order_awards" "place_order";
        PayOrder: "lib/order_guard" "lib/order_book" "lib/order_kept" "lib/order_awards" "lib/order_paying" "pay_order";
        CancelOrder: "lib/order_guard" "lib/order_book" "lib/order_kept" "lib/order_awards" "lib/order_paying" "cancel_order";
        NotePayment: "lib/order_guard" "lib/order_book" "lib/order_kept" "lib/order_awards" "note_payment";
        NoteRefund: "lib/order_guard" "lib/order_book" "note_refund";
    ] [
        Create: "lib/open" "lib/head" "lib/replay" "lib/args" "lib/write_new" "create_auction";
        PlainBid: "plain_bid";
    ]
}
