//! Commands of sales as arguments. What a script cannot see (names of SKUs, merged details) is checked here, and the
//! script looks whether what it was checked against is still so.

use onsale_domain::Fact;
use onsale_domain::field::Field;
use onsale_domain::listing::Body;
use onsale_domain::stock::command::{ChangeSale, Checkout, CheckoutKey, CreateSale};
use onsale_domain::stock::details::{SaleDetails, SaleStatus, Sku, check_price, check_skus};
use onsale_domain::stock::fact::{SaleCreated, SkuLine};
use onsale_domain::stock::{Sale, SaleCommand, SaleFact, check};

use super::facts as own;
use crate::commands::{Args, ScriptArgs, Terms, refused};
use crate::facts::{self, Fields};
use crate::picture::Picture;

pub(super) fn prepare(picture: &Picture, command: &SaleCommand, terms: &Terms) -> ScriptArgs {
    if let SaleCommand::Create(command) = command {
        return create(picture, command, terms);
    }
    if let Err(refusal) = check(command) {
        return refused(refusal, "");
    }
    let mut args = Args::default();
    match command {
        // Made above, under its own script.
        SaleCommand::Create(_) => {}
        SaleCommand::Change(command) => {
            change(&mut args, picture, command);
        }
        SaleCommand::AddSku(sku) => {
            add_sku(&mut args, picture, sku);
        }
        SaleCommand::AddStock(line) => {
            args.push(line.sku);
            args.push(line.count);
        }
        SaleCommand::WithdrawStock(line) => {
            args.push(line.sku);
            args.push(line.count);
        }
        SaleCommand::ChangePrice { sku, price_minor } => {
            args.push(sku);
            args.push(price_minor);
            args.wrong(check_price(Field::PriceMinor.into(), *price_minor).err().as_ref());
        }
        SaleCommand::Close => {}
        SaleCommand::Cancel => {}
        SaleCommand::Checkout(command) => {
            args.bytes(facts::id(command.checkout.0));
            args.bytes(command.buyer.as_str());
            args.bytes(facts::sku_counts(&command.lines));
            args.optional(command.checkout_ms);
        }
        SaleCommand::CancelCheckout(key) => {
            args.code(key);
        }
        SaleCommand::OrderCheckout(command) => {
            args.code(&command.key);
            args.bytes(facts::id(command.order.0));
            args.push(command.pay_until);
        }
        SaleCommand::ReturnCheckout(command) => {
            args.bytes(facts::id(command.checkout.0));
            args.bytes(facts::id(command.order.0));
        }
        SaleCommand::Purchase(command) => {
            args.code(&command.key);
            args.bytes(facts::id(command.order.0));
            args.bytes(if command.settled { "1" } else { "0" });
        }
        SaleCommand::TakeBack(command) => {
            args.code(&command.key);
            args.bytes(facts::id(command.order.0));
            args.bytes(facts::sku_lines(&command.lines));
        }
        SaleCommand::Refund(command) => {
            args.bytes(facts::id(command.order.0));
            args.bytes(facts::sku_counts(&command.lines));
            args.bytes(if command.restock { "1" } else { "0" });
            args.bytes(&command.reason);
        }
    }
    args.script(command.verb().name, picture)
}

/// Units of one SKU, of a sale that is open as far as the picture tells; the fact's price is the script's to tell.
pub(super) fn plain_checkout(picture: &Picture, command: &Checkout) -> Option<(ScriptArgs, SaleFact)> {
    let (Body::Sale(sale), [line]) = (&picture.listing.body, command.lines.as_slice()) else { return None };
    let known = sale.status() == SaleStatus::Open && usize::from(line.sku) < sale.skus().len();
    if !known || check(&SaleCommand::Checkout(command.clone())).is_err() {
        return None;
    }
    let rules = &sale.details().rules;
    let mut args = Args::default();
    args.bytes(facts::id(command.checkout.0));
    args.bytes(command.buyer.as_str());
    args.push(command.checkout_ms.unwrap_or(rules.checkout_ms));
    args.push(line.sku);
    args.push(line.count);
    args.push(format_args!("|{}|{}|0|0", sale.skus().len(), picture.versions.details));
    let fact = SaleFact::CheckedOut {
        checkout: command.checkout,
        buyer: command.buyer.clone(),
        lines: vec![SkuLine { sku: line.sku, count: line.count, price_minor: 0 }],
        until: 0,
    };
    Some((args.script("plain_checkout", picture), fact))
}

/// Deadline and price are the script's to tell.
pub(super) fn plain_fact(asked: &SaleFact, told: &[i64]) -> Option<SaleFact> {
    let [ends, price] = told else { return None };
    let mut fact = asked.clone();
    let SaleFact::CheckedOut { until, lines, .. } = &mut fact else { return None };
    *until = *ends;
    lines.iter_mut().for_each(|line| line.price_minor = *price);
    Some(fact)
}

fn create(picture: &Picture, command: &CreateSale, terms: &Terms) -> ScriptArgs {
    // At the beginning of time: whether the sale's end is still to come is for the script to say.
    if let Err(refusal) = Sale::create(command, 0) {
        return refused(refusal, "create");
    }
    let (details, skus) = (&command.details, &command.skus);
    let mut args = Args::default();
    args.push(terms.epoch);
    args.push(details.starts_at);
    args.push(details.ends_at);
    args.bytes(rules(details));
    let mut meta = meta_fields(details);
    for (n, sku) in skus.iter().enumerate() {
        meta.push(&format!("sku:{n}"), own::sku_names(sku));
    }
    args.fields(&meta);
    args.push(skus.len());
    skus.iter().for_each(|sku| args.bytes(shelf(sku)));
    let created = SaleCreated { details: details.clone(), skus: skus.clone() };
    args.fact(&Fact::Sale(SaleFact::Created(Box::new(created))));
    args.script("create_sale", picture)
}

fn change(args: &mut Args, picture: &Picture, command: &ChangeSale) {
    args.push(picture.versions.details);
    let Some(sale) = picture.listing.sale() else { return };
    match sale.changed(command) {
        Err(refusal) => {
            args.bytes("field");
            args.wrong(Some(&refusal));
        }
        Ok(details) if details == **sale.details() => args.bytes("same"),
        Ok(details) => {
            args.bytes("change");
            args.bytes(rules(&details));
            args.push(details.starts_at);
            args.push(details.ends_at);
            args.fields(&meta_fields(&details));
            args.fact(&Fact::Sale(SaleFact::Changed(Box::new(details))));
        }
    }
}

fn add_sku(args: &mut Args, picture: &Picture, sku: &Sku) {
    let known = picture.listing.sale().map_or(&[][..], |sale| sale.skus());
    args.push(known.len());
    args.wrong(check_skus(known, std::slice::from_ref(sku)).err().as_ref());
    args.bytes(shelf(sku));
    args.bytes(own::sku_names(sku));
    args.fact(&Fact::Sale(SaleFact::SkuAdded(Box::new(sku.clone()))));
}

fn meta_fields(details: &SaleDetails) -> Fields {
    let mut fields = Fields::default();
    own::encode_details(details, &mut fields);
    fields
}

/// What scripts have to know of the details, in one line; `lua/sale/lib/rules.lua` takes it apart.
fn rules(details: &SaleDetails) -> String {
    let (limit, checkout_ms) = (details.rules.buyer_limit, details.rules.checkout_ms);
    format!("{}|{}|{limit}|{checkout_ms}", details.starts_at, details.ends_at)
}

fn shelf(sku: &Sku) -> String {
    format!("{}|0|0|{}", sku.stock, sku.price_minor)
}

impl Args {
    fn code(&mut self, key: &CheckoutKey) {
        self.bytes(facts::id(key.checkout.0));
        self.bytes(key.buyer.as_str());
    }
}
