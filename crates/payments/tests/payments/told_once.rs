//! What is written to the log while a payment waits: once that it waits, not once for every try.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::world::World;

/// Counts warnings that a payment waits.
#[derive(Clone, Default)]
struct Warnings(Arc<AtomicU32>);

impl Visit for Warnings {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" && format!("{value:?}").contains("waits") {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn a_payment_that_waits_is_one_warning_however_often_it_is_tried() {
    let warnings = Warnings::default();
    let count = || warnings.0.load(Ordering::Relaxed);
    tracing::subscriber::with_default(warnings.clone(), || {
        let mut world = World::new();
        world.pay("succeed");
        let mut try_often = |down: bool| {
            world.bank.set_down(down);
            for _ in 0..5 {
                assert!(world.round(), "the engine runs");
                world.pass(10_000);
            }
        };
        try_often(true);
        assert_eq!(count(), 1);
        try_often(false);
        assert_eq!(count(), 1, "it was answered");
    });
}
