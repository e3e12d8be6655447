//! The scripts of sales: one a verb, over the same fragments; a plain checkout has one of its own.

use super::Source;

macro_rules! sales {
    ($($name:ident: $file:literal;)*) => {
        /// The verbs that share the rules of a sale, and those that stand alone.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SaleVerb { $($name,)* Create, PlainCheckout }

        /// In the order of the verbs.
        pub const SOURCES: &[Source] = &[
            $(lua!("lib/open" "lib/head" "lib/replay" "lib/codes" "lib/args" "lib/sale_rules" "lib/sale_state"
                "lib/ended" "lib/sale_expire" "lib/log" "lib/sale_commit" "lib/answers" "lib/sale_codes" $file),)*
            lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/write_new" "create_sale"),
            lua!("plain_checkout"),
        ];
    };
}

sales! {
    Change: "change_sale";
    AddSku: "add_sku";
    AddStock: "add_stock";
    WithdrawStock: "withdraw_stock";
    ChangePrice: "change_price";
    Close: "close_sale";
    Cancel: "cancel_sale";
    Checkout: "checkout";
    CancelCheckout: "cancel_checkout";
    OrderCheckout: "order_checkout";
    ReturnCheckout: "return_checkout";
    Purchase: "purchase";
    TakeBack: "take_back_purchase";
    Refund: "refund_purchase";
    Expire: "expire_checkouts";
}
