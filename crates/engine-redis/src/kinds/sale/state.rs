//! A sale's state read back, and whether what Redis keeps twice agrees with itself.

use std::collections::BTreeMap;

use onsale_domain::stock::details::Sku;
use onsale_domain::stock::image::{CodeImage, EndedCode, PurchaseImage, SaleImage};
use onsale_domain::{CheckoutId, OrderId};

use super::facts as own;
use crate::facts::{self, ID_CHARS, Malformed};
use crate::state::records::{Parts, id, same, texts};
use crate::state::{State, orders};

pub(super) fn image(state: &State) -> Result<SaleImage, Malformed> {
    let head = state.head(super::HEAD)?;
    let shelves = (0..head.number("skus_len")?).map(|index| shelf(state, index));
    let ended = state.all_ended()?.into_iter();
    let ended = ended.map(|it| EndedCode { at: it.at, id: CheckoutId(it.id), end: it.end });
    Ok(SaleImage {
        details: own::decode_details(&state.meta)?,
        status: own::read_status(head.status)?,
        skus: shelves.map(|shelf| shelf.map(|shelf| shelf.sku)).collect::<Result<_, _>>()?,
        codes: things(state, b"c|").map(|(id, record)| code(id, record)).collect::<Result<_, _>>()?,
        purchases: things(state, b"p|").map(|(id, record)| purchase(id, record)).collect::<Result<_, _>>()?,
        ended: ended.collect(),
    })
}

struct Shelf {
    sku: Sku,
    reserved: u32,
    sold: u32,
}

fn shelf(state: &State, index: usize) -> Result<Shelf, Malformed> {
    let field = format!("sku:{index}");
    let mut parts = Parts::new("sku", state.locks.bytes(&field)?, 4)?;
    let (stock, reserved, sold, price_minor) =
        (parts.number()?, parts.number()?, parts.number()?, parts.number()?);
    let names = own::read_names(state.meta.text(&field)?);
    let (id, name, picture) = names.ok_or_else(|| Malformed::of("sku"))?;
    Ok(Shelf { sku: Sku { id, name, price_minor, stock, picture }, reserved, sold })
}

/// What stands under ids and begins so: an id has 13 characters, and no buyer's field begins with one of them.
fn things<'a>(state: &'a State, kind: &'static [u8]) -> impl Iterator<Item = (&'a str, &'a [u8])> {
    let ids = state.locks.iter().filter(|(field, _)| field.len() == ID_CHARS && !field.starts_with('@'));
    ids.filter(move |(_, record)| record.starts_with(kind))
}

fn code(name: &str, record: &[u8]) -> Result<CodeImage, Malformed> {
    let mut parts = Parts::new("code", record, 7)?;
    parts.text()?;
    let (fence, placed_at, until) = (parts.number()?, parts.number()?, parts.number()?);
    let order = match parts.text()? {
        "" => None,
        order => Some(OrderId(id(order)?)),
    };
    let lines = facts::read_sku_lines(parts.text()?)?;
    let (id, buyer) = (CheckoutId(id(name)?), parts.buyer()?);
    Ok(CodeImage { id, buyer, fence, placed_at, until, order, lines })
}

fn purchase(name: &str, record: &[u8]) -> Result<PurchaseImage, Malformed> {
    let mut parts = Parts::new("purchase", record, 7)?;
    parts.text()?;
    let (fence, at, order) = (parts.number()?, parts.number()?, OrderId(id(parts.text()?)?));
    let (lines, refunded) = (facts::read_sku_lines(parts.text()?)?, facts::read_seats(parts.text()?)?);
    Ok(PurchaseImage {
        order,
        code: CheckoutId(id(name)?),
        buyer: parts.buyer()?,
        fence,
        at,
        lines,
        refunded,
    })
}

/// Counts shelves, buyers, deadlines and orders again.
pub(super) fn check(state: &State) -> Result<(), String> {
    let malformed = |error: Malformed| error.to_string();
    let image = image(state).map_err(malformed)?;
    let limit = state.head(super::HEAD).and_then(|head| head.number("buyer_limit")).map_err(malformed)?;
    same("the limit", &limit, &image.details.rules.buyer_limit)?;
    let mut buyers: BTreeMap<String, (u32, u32, Vec<String>)> = BTreeMap::new();
    let (mut due, mut open, mut bought_by) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut taken = vec![(0, 0); image.skus.len()];
    for code in &image.codes {
        let buyer = buyers.entry(code.buyer.as_str().to_owned()).or_default();
        for line in &code.lines {
            buyer.0 += line.count;
            taken[usize::from(line.sku)].0 += line.count;
        }
        buyer.2.push(facts::id(code.id.0));
        due.insert(format!("{:016}{}", code.fence, facts::id(code.id.0)), code.until.to_string());
    }
    for bought in &image.purchases {
        let mut left = 0;
        for (n, line) in bought.lines.iter().enumerate() {
            let count = line.count - bought.refunded.get(n).copied().unwrap_or(0);
            taken[usize::from(line.sku)].1 += count;
            left += count;
        }
        if left > 0 {
            buyers.entry(bought.buyer.as_str().to_owned()).or_default().1 += left;
            open.insert(facts::id(bought.order.0), bought.fence.to_string());
        }
        bought_by.insert(facts::id(bought.order.0), facts::id(bought.code.0));
    }
    for (n, counted) in taken.iter().enumerate() {
        let shelf = shelf(state, n).map_err(malformed)?;
        same("a shelf", &(shelf.reserved, shelf.sold), counted)?;
    }
    same("due", &texts(&state.due), &due)?;
    same("open orders", &orders::open(state), &open)?;
    let sold = orders::sold(state).map(|(id, code)| (id.to_owned(), text(code))).collect();
    same("orders", &sold, &bought_by)?;
    let mut kept = BTreeMap::new();
    for (field, record) in state.locks.iter() {
        let Some(name) = field.strip_prefix('@') else { continue };
        let mut parts = Parts::new("buyer", record, 3).map_err(malformed)?;
        let mut read = || -> Result<_, Malformed> { Ok((parts.number()?, parts.number()?, parts.text()?)) };
        let (reserved, bought, codes) = read().map_err(malformed)?;
        let mut codes: Vec<String> =
            codes.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect();
        codes.sort_unstable();
        kept.insert(name.to_owned(), (reserved, bought, codes));
    }
    buyers.values_mut().for_each(|buyer| buyer.2.sort_unstable());
    same("buyers", &kept, &buyers)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
