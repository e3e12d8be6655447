//! Whole snapshots win, damaged ones are passed over, crashes leave none by halves.

use std::sync::Arc;

use super::*;
use crate::{
    disk::{Disk, Fault, MemoryDisk},
    journal::FramePosition,
};

const GENERATION: u128 = 42 << 80 | 7;

fn position(sequence: u64) -> FramePosition {
    FramePosition { segment: 3, at: 640, sequence }
}

fn take(disk: &MemoryDisk, sequence: u64, parts: &[&[u8]]) -> Result<(), SnapshotError> {
    let parts = parts.iter().map(|part| Ok(part.to_vec()));
    write(Arc::new(disk.clone()), GENERATION, position(sequence), parts)
}

type Found = Option<(u64, Vec<Vec<u8>>)>;

/// The sequence and parts of the latest snapshot, and how many were passed over.
fn found(disk: &MemoryDisk) -> (Found, usize) {
    let latest = latest(disk, GENERATION).expect("the disk works");
    let snapshot = latest.snapshot.map(|snapshot| {
        let parts = snapshot.parts().collect::<Result<_, _>>().expect("it was checked");
        assert_eq!(snapshot.at(), position(snapshot.at().sequence));
        (snapshot.at().sequence, parts)
    });
    (snapshot, latest.passed_over.len())
}

fn parts(parts: &[&[u8]]) -> Vec<Vec<u8>> {
    parts.iter().map(|part| part.to_vec()).collect()
}

#[test]
fn a_snapshot_comes_back_in_order_empty_and_large_parts_included() {
    let disk = MemoryDisk::new(0);
    let large = vec![7; MAX_PART_BYTES];
    let written: [&[u8]; 5] = [b"one", b"", &large, b"two", &large];
    take(&disk, 9, &written).expect("a snapshot");
    assert_eq!(found(&disk), (Some((9, parts(&written))), 0));
    take(&disk, 10, &[]).expect("a snapshot of nothing");
    assert_eq!(found(&disk), (Some((10, vec![])), 0));
}

#[test]
fn a_part_beyond_the_limit_is_refused_and_leaves_nothing_behind() {
    let disk = MemoryDisk::new(0);
    let error = take(&disk, 9, &[&vec![7; MAX_PART_BYTES + 1]]).expect_err("too large");
    assert!(matches!(error, SnapshotError::PartTooLarge { .. }));
    assert_eq!(disk.list().expect("names"), [""; 0]);
}

#[test]
fn the_two_newest_are_kept() {
    let disk = MemoryDisk::new(0);
    for sequence in [5, 9, 100, 1000] {
        take(&disk, sequence, &[b"x"]).expect("a snapshot");
    }
    assert_eq!(positions(&disk, GENERATION).expect("readable"), [position(100), position(1000)]);
    assert_eq!(positions(&disk, GENERATION + 1).expect("readable"), []);
    let mut names = disk.list().expect("names");
    names.sort();
    assert_eq!(names, ["snapshot-00000000000000000100.snap", "snapshot-00000000000000001000.snap"]);
}

#[test]
fn any_changed_or_missing_byte_makes_it_fall_back_to_the_older_one() {
    let disk = MemoryDisk::new(0);
    take(&disk, 5, &[b"old"]).expect("a snapshot");
    take(&disk, 9, &[b"new", b"", b"state"]).expect("a snapshot");
    let name = "snapshot-00000000000000000009.snap";
    let bytes = disk.contents(name).expect("it was written").len() as u64;
    for at in 0..bytes {
        let fork = disk.fork();
        assert!(fork.flip(name, at));
        assert_eq!(found(&fork), (Some((5, parts(&[b"old"]))), 1), "changed at {at}");
        let fork = disk.fork();
        fork.open(name).and_then(|file| file.set_len(at)).expect("a shorter file");
        assert_eq!(found(&fork), (Some((5, parts(&[b"old"]))), 1), "cut at {at}");
    }
    let fork = disk.fork();
    fork.open(name).and_then(|file| file.write_at(b"more", bytes)).expect("a longer file");
    assert_eq!(found(&fork), (Some((5, parts(&[b"old"]))), 1));
    fork.flip("snapshot-00000000000000000005.snap", 70);
    assert_eq!(found(&fork), (None, 2));
}

#[test]
fn the_snapshot_of_another_journal_does_not_count() {
    let disk = MemoryDisk::new(0);
    take(&disk, 5, &[b"mine"]).expect("a snapshot");
    write(Arc::new(disk.clone()), GENERATION + 1, position(9), std::iter::empty()).expect("another");
    assert_eq!(found(&disk), (Some((5, parts(&[b"mine"]))), 1));
}

#[test]
fn at_every_crash_there_is_the_old_or_the_new_one_and_a_finished_one_stays() {
    for crash_at in 0..16 {
        for seed in 0..40 {
            let disk = MemoryDisk::new(seed);
            take(&disk, 4, &[b"older"]).expect("a snapshot");
            take(&disk, 5, &[b"old"]).expect("a snapshot");
            disk.fail_after(crash_at, Fault::Crash);
            let finished = take(&disk, 9, &[&[1; 900], &[2; 900]]);
            disk.crash(seed);
            let (snapshot, passed_over) = found(&disk);
            let sequence = snapshot.map(|(sequence, _)| sequence);
            let why = format!("crash at {crash_at}, seed {seed}");
            assert_eq!(passed_over, 0, "a half-made one was taken for a whole one, {why}");
            assert!(sequence == Some(9) || (sequence == Some(5) && finished.is_err()), "{sequence:?}, {why}");
        }
    }
}
