//! The part of a desk that one command can look at or change, for engines that keep the rest elsewhere: a decision about
//! the part, and what follows from it, is the decision about the whole.

use std::collections::BTreeSet;

use super::command::DeskCommand;
use super::state::Desk;
use crate::limits::DESK_KEPT_MS;
use crate::time::Millis;

impl Desk {
    /// What the command names, and what the time of its fact makes the desk forget.
    pub(crate) fn part(&self, command: &DeskCommand, now: Millis) -> Desk {
        let mut part = Desk::default();
        let mut payments = BTreeSet::new();
        match command {
            DeskCommand::Open => {}
            DeskCommand::TakeWork(command) => {
                payments.extend(command.slips.iter().map(|slip| slip.of(command.listing)));
                part.cursors.extend(
                    self.cursors.get_key_value(&command.listing).map(|(of, through)| (*of, *through)),
                );
            }
            DeskCommand::NoteAnswer(command) => payments.extend([command.payment]),
            DeskCommand::NoteDelivered { payment, .. } => payments.extend([*payment]),
            DeskCommand::ReceiveWebhook(webhook) => {
                payments.extend(webhook.payment);
                let name = (webhook.provider.clone(), webhook.event.clone());
                part.seen.extend(self.seen.get(&name).cloned());
            }
        }
        let is_old = |at: Millis| at + DESK_KEPT_MS <= now;
        for (at, provider, event) in self.inbox.iter().take_while(|(at, ..)| is_old(*at)) {
            part.see(*at, provider, event);
        }
        payments.extend(self.done.iter().take_while(|(at, _)| is_old(*at)).map(|(_, name)| name.0));
        for payment in payments {
            let items = self.items.range((payment, 0)..=(payment, u16::MAX));
            items.for_each(|(_, item)| part.insert(item.clone()));
            part.events.extend(self.events.get(&payment).map(|events| (payment, events.clone())));
        }
        part
    }
}
