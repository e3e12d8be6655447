//! The reader beside a writer, over rollovers, at damage.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use super::{
    super::{
        Options, Preparation,
        crash_tests::{GENERATION, SMALL, open, payload},
    },
    *,
};
use crate::disk::MemoryDisk;

fn length(sequence: u64) -> usize {
    1 + (sequence as usize * 389) % 1700
}

#[test]
fn frames_are_read_across_many_segments_up_to_the_limit() {
    let disk = MemoryDisk::new(0);
    let (mut writer, ..) = open(&disk, SMALL).expect("an empty folder opens");
    let reader = writer.reader();
    let mut cursor = FramePosition::FIRST;
    for sequence in 1..=100 {
        let position = writer.append(&payload(sequence, length(sequence))).expect("room");
        writer.sync().expect("a sync");
        assert_eq!(reader.read_frame(cursor, sequence - 1).expect("readable"), None);
        let frame = reader.read_frame(cursor, sequence).expect("readable").expect("synced");
        assert_eq!((frame.position, frame.payload), (position, payload(sequence, length(sequence))));
        cursor = frame.next;
        for earlier in 1..=sequence {
            let found = reader.find(earlier, sequence).expect("readable").expect("synced");
            let frame = reader.read_frame(found, sequence).expect("readable").expect("synced");
            assert_eq!(frame.position.sequence, earlier);
        }
    }
    assert!(cursor.segment > OPEN_FILES_MAX as u64 + 2);
    assert_eq!(reader.files.lock().len(), OPEN_FILES_MAX);
    assert_eq!(reader.first().expect("readable"), FramePosition::FIRST);
    assert_eq!(reader.find(101, 100).expect("readable"), None);
    writer.remove_before(FramePosition { segment: 5, at: 0, sequence: 0 }).expect("removed");
    let reader = writer.reader();
    assert_eq!(reader.first().expect("readable").segment, 5);
    assert!(matches!(reader.find(1, 100), Err(JournalError::Damaged(_))));
}

#[test]
fn a_cut_in_the_middle_of_the_row_is_passed() {
    let disk = MemoryDisk::new(0);
    let (mut writer, ..) = open(&disk, SMALL).expect("an empty folder opens");
    // Three times the first frame of a segment is torn, so that segments without frames arise.
    for life in 0..3 {
        let position = writer.append(&payload(life, 2500)).expect("room");
        drop(writer);
        disk.flip(&segment::name(position.segment), position.at + 50);
        (writer, ..) = open(&disk, SMALL).expect("a torn tail is cut");
    }
    writer.append(b"here").expect("room");
    writer.sync().expect("a sync");
    let reader = writer.reader();
    let frame = reader.read_frame(FramePosition::FIRST, 1).expect("readable").expect("synced");
    assert_eq!((frame.position.segment, &*frame.payload), (4, &b"here"[..]));
    let found = reader.find(1, 1).expect("readable").expect("synced");
    assert_eq!(reader.read_frame(found, 1).expect("readable").expect("synced"), frame);
}

#[test]
fn damage_and_foreign_frames_are_errors_not_data() {
    let disk = MemoryDisk::new(0);
    let (mut writer, ..) = open(&disk, SMALL).expect("an empty folder opens");
    let first = writer.append(&payload(1, 100)).expect("room");
    writer.append(&payload(2, 100)).expect("room");
    for at in 0..24 + 100 {
        let fork = disk.fork();
        fork.flip(&segment::name(1), first.at + at);
        let reader = Reader::new(Arc::new(fork), GENERATION);
        assert!(matches!(reader.read_frame(first, 2), Err(JournalError::Damaged(_))), "byte {at}");
    }
    let wrong = FramePosition { sequence: 2, ..first };
    assert!(writer.reader().read_frame(wrong, 2).is_err());
    let other = Reader::new(Arc::new(disk), GENERATION + 1);
    assert!(other.read_frame(first, 2).is_err());
}

#[test]
fn readers_follow_a_writer_on_other_threads() {
    const FRAMES: u64 = 3000;
    let disk = MemoryDisk::new(0);
    let options = Options { segment_bytes: 64 << 10, preparation: Preparation::Background };
    let (mut writer, ..) = open(&disk, options).expect("an empty folder opens");
    let (reader, synced) = (Arc::new(writer.reader()), Arc::new(AtomicU64::new(0)));
    let follow = || {
        let (reader, synced) = (reader.clone(), synced.clone());
        thread::spawn(move || {
            let mut cursor = FramePosition::FIRST;
            while cursor.sequence <= FRAMES {
                match reader.read_frame(cursor, synced.load(Ordering::Acquire)).expect("readable") {
                    None => thread::yield_now(),
                    Some(frame) => {
                        assert_eq!(frame.position.sequence, cursor.sequence);
                        let sequence = cursor.sequence;
                        assert!(frame.payload == payload(sequence, length(sequence)));
                        cursor = frame.next;
                    }
                }
            }
        })
    };
    let followers = [follow(), follow()];
    for sequence in 1..=FRAMES {
        writer.append(&payload(sequence, length(sequence))).expect("room");
        if sequence % 3 == 0 {
            writer.sync().expect("a sync");
            synced.store(sequence, Ordering::Release);
        }
    }
    for follower in followers {
        follower.join().expect("a follower that saw every frame");
    }
}
