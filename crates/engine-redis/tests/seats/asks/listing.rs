//! What creates a listing, what a venue is asked, and the sweep; and every answer to them.

use onsale_domain::layout::Layout;
use onsale_domain::seats::EventCommand;
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{Command, Listing};

use super::super::world::{Theme, World};
use super::Generator;

pub(super) const GENERATORS: &[Generator] = &[
    Generator {
        dice: &[95..=99],
        ask: |world, _| Command::ExpireDue { limit: world.chance.below(70) as u32 },
        bare: |_, _| Command::ExpireDue { limit: 5 },
        verbs: &[("expire_due", &["done", "unchanged"], &["again", "key_reused"])],
    },
    Generator {
        dice: &[94..=94],
        ask: World::create_again,
        bare: World::of_venue,
        verbs: &[
            ("create_event", &["done", "listing_exists", "invalid"], &["wrong_kind"]),
            ("create_venue", &["done", "listing_exists", "invalid"], &["wrong_kind"]),
            ("publish_layout", &["done", "invalid"], &[]),
        ],
    },
];

impl World {
    /// For an event that exists already; a cancelled one is rather asked for what ends its holds.
    fn create_again(&mut self, event: &Listing) -> Command {
        if self.theme == Theme::Cancelled {
            return self.override_hold(event);
        }
        match self.chance.below(3) {
            0 => Command::Event(EventCommand::CreateEvent(Box::new(self.create()))),
            _ => self.of_venue(event),
        }
    }

    pub(super) fn of_venue(&mut self, _: &Listing) -> Command {
        let layout = if self.chance.one_in(4) { Layout::default() } else { self.layout() };
        match self.chance.below(5) {
            0 => {
                let mut create = self.create();
                if self.chance.one_in(4) {
                    create.details.name.clear();
                }
                Command::Event(EventCommand::CreateEvent(Box::new(create)))
            }
            1 | 2 => {
                let (name, place) = ("Halle {|}".to_owned(), "Main\tSt".replace('\t', " "));
                Command::Venue(VenueCommand::CreateVenue(Box::new(CreateVenue {
                    name,
                    place,
                    layout: layout.into(),
                })))
            }
            _ => Command::Venue(VenueCommand::PublishLayout(layout.into())),
        }
    }
}
