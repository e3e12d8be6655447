//! The folder of the memory disk: which name means which file, now and after a crash.

use std::{collections::BTreeMap, io, sync::Arc};

use hashbrown::HashMap;
use parking_lot::Mutex;

use super::{Inode, Random};

#[derive(Debug, Default)]
pub(super) struct Names {
    current: BTreeMap<String, Inode>,
    durable: BTreeMap<String, Inode>,
    unsynced: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Set(String, Inode),
    Remove(String),
    Rename(String, String, Inode),
}

impl Names {
    pub(super) fn list(&self) -> Vec<String> {
        self.current.keys().cloned().collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Inode> {
        self.current.get(name)
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.current.values().map(|inode| inode.lock().current().len() as u64).sum()
    }

    pub(super) fn create(&mut self, name: &str) -> io::Result<Inode> {
        if self.current.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = Inode::default();
        self.change(Change::Set(name.to_owned(), inode.clone()));
        Ok(inode)
    }

    pub(super) fn remove(&mut self, name: &str) -> io::Result<Inode> {
        let inode = self.get(name).ok_or(io::ErrorKind::NotFound)?.clone();
        self.change(Change::Remove(name.to_owned()));
        Ok(inode)
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> io::Result<Inode> {
        let inode = self.get(from).ok_or(io::ErrorKind::NotFound)?.clone();
        self.change(Change::Rename(from.to_owned(), to.to_owned(), inode.clone()));
        Ok(inode)
    }

    pub(super) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            apply(&mut self.durable, change);
        }
    }

    /// Keeps none, all, a prefix (a file system with a log) or any subset (one without).
    pub(super) fn crash(&mut self, random: &mut Random) {
        let changes = std::mem::take(&mut self.unsynced);
        let mood = random.below(4);
        let prefix = random.below(changes.len() as u64 + 1) as usize;
        for (index, change) in changes.into_iter().enumerate() {
            let kept = match mood {
                0 => false,
                1 => true,
                2 => index < prefix,
                _ => random.coin(),
            };
            if kept {
                apply(&mut self.durable, change);
            }
        }
        self.current = self.durable.clone();
        for inode in self.current.values() {
            inode.lock().crash(random);
        }
    }

    pub(super) fn fork(&self) -> Self {
        let mut copies: HashMap<*const Mutex<super::Content>, Inode> = HashMap::new();
        let mut copy = |inode: &Inode| {
            let made = || Arc::new(Mutex::new(inode.lock().clone()));
            copies.entry(Arc::as_ptr(inode)).or_insert_with(made).clone()
        };
        let mut copy_all = |names: &BTreeMap<String, Inode>| {
            names.iter().map(|(name, inode)| (name.clone(), copy(inode))).collect()
        };
        let (current, durable) = (copy_all(&self.current), copy_all(&self.durable));
        let unsynced = self
            .unsynced
            .iter()
            .map(|change| match change {
                Change::Set(name, inode) => Change::Set(name.clone(), copy(inode)),
                Change::Remove(name) => Change::Remove(name.clone()),
                Change::Rename(from, to, inode) => Change::Rename(from.clone(), to.clone(), copy(inode)),
            })
            .collect();
        Self { current, durable, unsynced }
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.current, change.clone());
        self.unsynced.push(change);
    }
}

fn apply(names: &mut BTreeMap<String, Inode>, change: Change) {
    match change {
        Change::Set(name, inode) => {
            names.insert(name, inode);
        }
        Change::Remove(name) => {
            names.remove(&name);
        }
        Change::Rename(from, to, inode) => {
            names.remove(&from);
            names.insert(to, inode);
        }
    }
}
