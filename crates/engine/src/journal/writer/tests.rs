//! Appending, rolling over, poisoning, and what a full disk does.

use super::{
    super::{
        Preparation,
        crash_tests::{SMALL, open, payload},
    },
    *,
};
use crate::disk::{Fault, MemoryDisk};

fn fresh() -> (MemoryDisk, Writer) {
    let disk = MemoryDisk::new(0);
    let (writer, ..) = open(&disk, SMALL).expect("an empty folder opens");
    (disk, writer)
}

#[test]
fn a_frame_is_one_write_and_a_batch_is_one_sync() {
    let (disk, mut writer) = fresh();
    let before = disk.counters();
    let mut buffer = writer.frame_buffer();
    for length in [5, 100, 8] {
        buffer.clear();
        buffer.payload_mut().extend_from_slice(&payload(1, length));
        writer.append_frame(&mut buffer).expect("room");
        assert_eq!(buffer.payload(), payload(1, length));
    }
    writer.sync().expect("a sync");
    writer.sync().expect("nothing to sync");
    let after = disk.counters();
    assert_eq!((after.writes - before.writes, after.syncs - before.syncs), (3, 1));
    assert_eq!(after.written_bytes - before.written_bytes, 32 + 128 + 32);
}

#[test]
fn a_frame_that_begins_another_page_writes_it_to_its_end() {
    let disk = MemoryDisk::new(0);
    let options = Options { segment_bytes: 5 * PAGE_BYTES / 2, ..SMALL };
    let (mut writer, ..) = open(&disk, options).expect("an empty folder opens");
    let mut written = |frame: u64| {
        let (before, at) = (disk.counters().written_bytes, writer.next_position().at);
        writer.append(&payload(1, frame as usize - 24)).expect("room");
        assert_eq!(writer.next_position().at, at + frame, "the next frame follows at once");
        disk.counters().written_bytes - before
    };
    let header = segment::HEADER_BYTES;
    assert_eq!(written(PAGE_BYTES - header - 32), PAGE_BYTES - header - 32);
    assert_eq!(written(32), 32, "up to the end of the first page");
    assert_eq!(written(40), PAGE_BYTES);
    assert_eq!(written(48), 48, "the page is known now");
    assert_eq!(written(PAGE_BYTES), PAGE_BYTES / 2 + PAGE_BYTES - 88, "a segment ends where it ends");
    drop(writer);
    let (_, _, frames) = open(&disk, options).expect("a sound journal opens");
    assert_eq!(frames.len(), 5);
}

#[test]
fn a_frame_larger_than_a_segment_gets_a_larger_one() {
    let (disk, mut writer) = fresh();
    let lengths = [10, 9000, 10, 4096 - 64 - 24, 1, 200_000, 5];
    for length in lengths {
        writer.append(&payload(length as u64, length)).expect("room");
    }
    writer.sync().expect("a sync");
    drop(writer);
    disk.crash(1);
    let (_, _, frames) = open(&disk, SMALL).expect("a sound journal opens");
    let found: Vec<usize> = frames.iter().map(|(_, payload)| payload.len()).collect();
    assert_eq!(found, lengths);
}

#[test]
fn an_impossible_frame_is_refused_before_anything_is_written() {
    let (disk, mut writer) = fresh();
    let before = disk.counters();
    assert!(matches!(writer.append(&[]), Err(JournalError::FrameEmpty)));
    let large = vec![1; MAX_FRAME_BYTES + 1];
    assert!(matches!(writer.append(&large), Err(JournalError::FrameTooLarge { .. })));
    let mut buffer = writer.frame_buffer();
    buffer.payload_mut().extend_from_slice(&large);
    assert!(matches!(writer.append_frame(&mut buffer), Err(JournalError::FrameTooLarge { .. })));
    assert_eq!(disk.counters(), before);
    writer.append(&large[1..]).expect("the largest frame is allowed");
    writer.append(b"next").expect("the writer is unharmed");
    writer.sync().expect("a sync");
    drop(writer);
    let (_, _, frames) = open(&disk, SMALL).expect("a sound journal opens");
    assert_eq!(frames.len(), 2);
}

#[test]
fn after_any_failed_write_or_sync_every_call_is_refused() {
    for fault in [Fault::WriteFails, Fault::SyncFails] {
        for after in 0..40 {
            let (disk, mut writer) = fresh();
            disk.fail_after(after, fault);
            let mut synced = 0;
            let mut failure = None;
            while failure.is_none() {
                let outcome = writer.append(&payload(1, 1500)).and_then(|_| writer.sync());
                match outcome {
                    Ok(()) => synced += 1,
                    Err(error) => failure = Some(error),
                }
            }
            let counted = disk.counters();
            if matches!(failure, Some(JournalError::NoRoom { .. })) {
                // The next segment could not be made; no frame was in doubt, so it goes on.
                assert!(!writer.is_poisoned());
                writer.append(&payload(1, 1500)).and_then(|_| writer.sync()).expect("one fault only");
                synced += 1;
            } else {
                assert!(matches!(writer.append(b"more"), Err(JournalError::Poisoned)), "{fault:?} {after}");
                assert!(matches!(writer.sync(), Err(JournalError::Poisoned)), "{fault:?} {after}");
                writer.prepare();
                assert_eq!(disk.counters(), counted, "a poisoned writer touched the disk");
            }
            drop(writer);
            disk.crash(after);
            let (_, _, frames) = open(&disk, SMALL).expect("a sound journal opens");
            assert!(frames.len() == synced || frames.len() == synced + 1, "{fault:?} {after}");
        }
    }
}

#[test]
fn room_ends_before_the_writer_does_and_returns_without_a_restart() {
    let (disk, mut writer) = fresh();
    let room = writer.room();
    disk.set_capacity(Some(disk.used_bytes() + 2000));
    let mut frames = 0;
    while room.has_room() {
        writer.prepare();
        writer.append(&payload(frames, 100)).expect("there was room");
        frames += 1;
    }
    // What was decided while there was room still fits.
    for _ in 0..4 {
        writer.append(&payload(frames, 100)).expect("the reserve");
        frames += 1;
    }
    let refused = loop {
        match writer.append(&payload(frames, 100)) {
            Ok(_) => frames += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, JournalError::NoRoom { .. }), "{refused}");
    assert!(!writer.has_room() && !writer.is_poisoned());
    writer.sync().expect("what was appended can still be synced");
    disk.set_capacity(None);
    writer.prepare();
    assert!(room.has_room());
    writer.append(&payload(frames, 100)).expect("room again");
    writer.sync().expect("a sync");
    drop(writer);
    disk.crash(5);
    let (_, report, _) = open(&disk, SMALL).expect("a sound journal opens");
    assert_eq!(report.last_sequence, frames + 1);
}

#[test]
fn a_frame_too_large_for_the_disk_is_refused_and_smaller_ones_go_on() {
    let (disk, mut writer) = fresh();
    disk.set_capacity(Some(disk.used_bytes() + 6000));
    assert!(matches!(writer.append(&payload(1, 9000)), Err(JournalError::NoRoom { .. })));
    assert!(writer.has_room());
    for sequence in 1..=3 {
        assert_eq!(writer.append(&payload(1, 1500)).expect("room").sequence, sequence);
    }
    writer.sync().expect("a sync");
    drop(writer);
    let (_, report, _) = open(&disk, SMALL).expect("a sound journal opens");
    assert_eq!(report.last_sequence, 3);
}

#[test]
fn the_helper_prepares_in_the_background_and_recovers_from_a_full_disk() {
    let disk = MemoryDisk::new(0);
    let options = Options { preparation: Preparation::Background, ..SMALL };
    let (mut writer, ..) = open(&disk, options).expect("an empty folder opens");
    let mut frames = 0;
    for _ in 0..50 {
        writer.append(&payload(frames, 1500)).expect("the writer waits for the helper");
        frames += 1;
    }
    disk.set_capacity(Some(0));
    while writer.append(&payload(frames, 1500)).is_ok() {
        frames += 1;
    }
    assert!(!writer.has_room() && !writer.is_poisoned());
    disk.set_capacity(None);
    // Hurried, not waited for: the append below blocks until the segment is there.
    writer.prepare();
    writer.append(&payload(frames, 1500)).expect("room again");
    writer.sync().expect("a sync");
    drop(writer);
    disk.crash(1);
    let (_, report, _) = open(&disk, SMALL).expect("a sound journal opens");
    assert_eq!(report.last_sequence, frames + 1);
}
