//! Torn tails are cut, damage is refused, and a refused start changes nothing.

use std::{convert::Infallible, sync::Arc};

use super::{
    super::{
        crash_tests::{Frames, GENERATION, SMALL, open, open_from, payload},
        cut,
        frame::frame_bytes,
    },
    *,
};
use crate::disk::{Counters, Fault, FolderDisk, MemoryDisk};

/// A journal of `lengths.len()` frames, each synced on its own.
fn journal(lengths: &[usize]) -> (MemoryDisk, Frames) {
    let disk = MemoryDisk::new(7);
    let (mut writer, ..) = open(&disk, SMALL).expect("an empty folder opens");
    let mut frames = Vec::new();
    for (index, length) in lengths.iter().enumerate() {
        let payload = payload(index as u64, *length);
        let position = writer.append(&payload).expect("room");
        writer.sync().expect("a sync");
        frames.push((position, payload));
    }
    (disk, frames)
}

fn overwrite(disk: &MemoryDisk, name: &str, at: u64, bytes: &[u8]) {
    let file = disk.open(name).expect("the file is there");
    file.write_at(bytes, at).and_then(|()| file.sync()).expect("a write");
}

type Files = Vec<(String, Option<Vec<u8>>)>;

fn image(disk: &MemoryDisk) -> (Files, Counters) {
    let names = disk.list().expect("names");
    let files = names.into_iter().map(|name| (name.clone(), disk.contents(&name))).collect();
    (files, disk.counters())
}

/// Opening must fail, change nothing, and agree with the inspection.
fn refused(disk: &MemoryDisk, why: &str) -> JournalError {
    let before = image(disk);
    let error = open(disk, SMALL).err();
    let error = error.unwrap_or_else(|| panic!("a damaged journal was opened: {why}"));
    match (&error, inspect(disk, &mut |_, _| {})) {
        (JournalError::Damaged(damage), Ok(inspection)) => {
            assert_eq!(inspection.damage.as_ref(), Some(damage), "{why}");
        }
        (_, Err(other)) => assert_eq!(error.to_string(), other.to_string(), "{why}"),
        (error, Ok(inspection)) => panic!("{why}: {error} but {inspection:?}"),
    }
    assert!(image(disk) == before, "a refused start changed something: {why}");
    error
}

/// Opening must find exactly `frames`, and the journal must go on from there.
fn continues(disk: &MemoryDisk, frames: &[(FramePosition, Vec<u8>)], why: &str) -> Report {
    let (mut writer, report, found) = open(disk, SMALL).unwrap_or_else(|error| panic!("{why}: {error}"));
    assert!(found == frames, "{why}: {} frames instead of {}", found.len(), frames.len());
    let mut expected = frames.to_vec();
    for length in [100, 100, 700] {
        let payload = payload(expected.len() as u64 + 1000, length);
        let position = writer.append(&payload).expect("room");
        assert_eq!(position.sequence, expected.len() as u64 + 1, "{why}");
        expected.push((position, payload));
    }
    writer.sync().expect("a sync");
    drop(writer);
    disk.crash(3);
    let (_, _, found) = open(disk, SMALL).unwrap_or_else(|error| panic!("{why}, again: {error}"));
    assert!(found == expected, "{why}: the journal did not go on");
    report
}

#[test]
fn a_tail_torn_at_any_byte_is_cut() {
    let (disk, frames) = journal(&[100, 300, 171]);
    let (last, payload) = &frames[2];
    let bytes = frame_bytes(payload.len());
    for kept in 0..bytes {
        let fork = disk.fork();
        overwrite(&fork, &segment::name(1), last.at + kept, &vec![0; (bytes - kept) as usize]);
        // The last bytes are padding; without them nothing is missing.
        let whole = kept >= 24 + payload.len() as u64;
        let report = continues(&fork, &frames[..2 + usize::from(whole)], &format!("torn at {kept}"));
        assert_eq!(report.cut_bytes > 0, kept > 0 && !whole, "torn at {kept}");
    }
}

fn shorten(disk: &MemoryDisk, number: u64, len: u64) {
    let file = disk.open(&segment::name(number)).expect("the file is there");
    file.set_len(len).and_then(|()| file.sync()).expect("a shorter file");
}

/// The answers in the lost part were given: only a write that was under way may be missing, and that needs no room.
#[test]
fn a_segment_that_has_become_short_is_damage_wherever_it_ends() {
    let (disk, frames) = journal(&[100, 300, 171]);
    let last = frames[2].0;
    let behind = last.at + frame_bytes(171);
    for len in (segment::HEADER_BYTES..behind + 16).chain([4095]) {
        let fork = disk.fork();
        shorten(&fork, 1, len);
        let JournalError::Damaged(damage) = refused(&fork, &format!("ends at {len}")) else {
            panic!("ends at {len}: not called damage")
        };
        assert!(damage.reason.contains("4096"), "ends at {len}: {damage}");
    }
    // In a segment before the last, too, unless nothing that counts is gone.
    let (disk, frames) = journal(&[1500, 1500, 1500]);
    let end = frames[1].0.at + frame_bytes(1500);
    let fork = disk.fork();
    shorten(&fork, 1, end - 1);
    refused(&fork, "the first of two is short");
    shorten(&disk, 1, end);
    continues(&disk, &frames, "only zeroes are gone");
}

#[test]
fn a_segment_that_recovery_itself_has_cut_is_whole() {
    let (disk, frames) = journal(&[100, 300, 171]);
    disk.flip(&segment::name(1), frames[2].0.at + 30);
    for _ in 0..2 {
        let (_, _, found) = open(&disk, SMALL).expect("a torn tail is cut");
        assert!(found == frames[..2]);
        disk.crash(1);
    }
    let len = disk.contents(&segment::name(1)).map(|bytes| bytes.len() as u64);
    assert_eq!(len, Some(frames[2].0.at + cut::BYTES));
    let inspection = inspect(&disk, &mut |_, _| {}).expect("the disk works");
    assert_eq!((inspection.torn, inspection.damage), (None, None));
    // A cut that stands elsewhere proves nothing.
    for len in [frames[2].0.at, frames[2].0.at + 8, frames[1].0.at] {
        let fork = disk.fork();
        shorten(&fork, 1, len);
        refused(&fork, &format!("cut, then short at {len}"));
    }
    continues(&disk, &frames[..2], "cut and opened again");
}

#[test]
fn a_change_of_any_byte_of_a_middle_frame_is_refused() {
    let (disk, frames) = journal(&[100, 171, 90, 1]);
    let middle = frames[1].0;
    for at in middle.at..frames[2].0.at {
        let fork = disk.fork();
        assert!(fork.flip(&segment::name(1), at));
        let JournalError::Damaged(damage) = refused(&fork, &format!("byte {at}")) else {
            panic!("byte {at}: not called damage")
        };
        assert_eq!((damage.file, damage.at), (segment::name(1), middle.at), "byte {at}");
        assert_eq!(damage.expected, Some(2), "byte {at}");
    }
    overwrite(&disk, &segment::name(1), middle.at, &vec![0; frame_bytes(171) as usize]);
    let error = refused(&disk, "a frame of zeroes").to_string();
    for part in ["journal-0000000001.log", "byte 192", "frame 2", "onsale verify", "backup"] {
        assert!(error.contains(part), "{part} is missing in: {error}");
    }
}

#[test]
fn whichever_byte_changes_the_start_is_refused_or_at_most_the_last_frame_is_cut() {
    let (disk, frames) = journal(&[1500, 900, 1500, 2000, 1900, 700, 40]);
    let (mut refused_starts, mut cut, mut whole) = (0, 0, 0);
    for number in 1..=3 {
        for at in 0..4096 {
            let fork = disk.fork();
            assert!(fork.flip(&segment::name(number), at));
            match open(&fork, SMALL) {
                Err(_) => refused_starts += 1,
                Ok((_, _, found)) if found == frames => whole += 1,
                Ok((_, _, found)) => {
                    assert!(found == frames[..6], "segment {number}, byte {at}");
                    cut += 1;
                }
            }
        }
    }
    // Exact: the last frame's 64 bytes are cut, all other bytes of headers and frames are refused.
    let used: u64 = frames.iter().map(|(_, payload)| frame_bytes(payload.len())).sum();
    assert_eq!((refused_starts, cut), (3 * 64 + used - 64, 64));
    assert_eq!(whole, 3 * 4096 - 3 * 64 - used);
}

#[test]
fn a_valid_frame_counts_only_in_its_own_place() {
    let (disk, frames) = journal(&[100, 100, 100, 100]);
    let bytes = disk.contents(&segment::name(1)).expect("it is there");
    let copy = |from: usize| &bytes[frames[from].0.at as usize..][..128];
    for (from, to) in [(2, 1), (0, 1), (3, 2)] {
        let fork = disk.fork();
        overwrite(&fork, &segment::name(1), frames[to].0.at, copy(from));
        refused(&fork, &format!("frame {from} in the place of {to}"));
    }
    for from in 0..4 {
        let fork = disk.fork();
        overwrite(&fork, &segment::name(1), frames[3].0.at + 128, copy(from));
        continues(&fork, &frames, &format!("frame {from} again behind the end"));
    }
}

#[test]
fn the_last_frame_of_a_full_segment_is_no_tail() {
    let (disk, frames) = journal(&[1500, 1500, 1500]);
    assert_eq!(frames[2].0.segment, 2);
    for at in [0, 4, 8, 16, 24, 1000] {
        let fork = disk.fork();
        fork.flip(&segment::name(1), frames[1].0.at + at);
        refused(&fork, &format!("byte {at}"));
        // The header of the next segment alone is proof enough.
        overwrite(&fork, &segment::name(2), segment::HEADER_BYTES, &[0; 4096 - 64]);
        refused(&fork, &format!("byte {at}, nothing in the next segment"));
    }
}

#[test]
fn a_bad_header_is_refused_in_every_segment_that_holds_frames() {
    let (disk, _) = journal(&[1500; 6]);
    for number in 1..=3 {
        for at in 0..segment::HEADER_BYTES {
            let fork = disk.fork();
            fork.flip(&segment::name(number), at);
            let error = refused(&fork, &format!("segment {number}, byte {at}"));
            assert!(error.to_string().contains(&segment::name(number)), "{error}");
            assert!(!error.to_string().contains("missing"), "{error}");
        }
    }
    overwrite(&disk, &segment::name(2), 8, &[9]);
    let error = refused(&disk, "a later version");
    assert!(matches!(error, JournalError::UnknownVersion { version: 9, .. }), "{error}");
}

#[test]
fn a_header_torn_at_any_byte_in_a_segment_without_frames_is_removed() {
    for number in [1, 2] {
        let header =
            Header { segment: number, generation: GENERATION, first_sequence: number, bytes: 4096 }.encode();
        for kept in 0..header.len() {
            let (disk, frames) = if number == 1 { (MemoryDisk::new(0), vec![]) } else { journal(&[200]) };
            segment::prepare(&disk, number, 4096).expect("a blank segment");
            overwrite(&disk, &segment::name(number), 0, &header[..kept]);
            continues(&disk, &frames, &format!("segment {number}, torn at {kept}"));
        }
    }
}

#[test]
fn a_missing_segment_is_refused() {
    let (disk, _) = journal(&[1500; 8]);
    segment::prepare(&disk, 5, 4096).expect("the next one, made in advance");
    // The first may have been removed on purpose: the start refuses, the inspection says what is left.
    let fork = disk.fork();
    fork.remove(&segment::name(1)).expect("it is there");
    let error = open(&fork, SMALL).expect_err("frames 1 and 2 are missing");
    assert!(error.to_string().contains(&segment::name(1)), "{error}");
    assert_eq!(inspect(&fork, &mut |_, _| {}).expect("the disk works").first_sequence, 3);
    for number in 2..=4 {
        let fork = disk.fork();
        fork.remove(&segment::name(number)).expect("it is there");
        let error = refused(&fork, &format!("segment {number}"));
        assert!(error.to_string().contains(&segment::name(number)), "{error}");
    }
    let alone = MemoryDisk::new(0);
    segment::prepare(&alone, 7, 4096).expect("a blank segment");
    refused(&alone, "six segments are gone");
}

#[test]
fn a_segment_in_the_wrong_place_or_of_another_journal_is_refused() {
    let (disk, _) = journal(&[1500; 6]);
    let fork = disk.fork();
    fork.rename(&segment::name(2), &segment::name(3)).expect("both are there");
    refused(&fork, "a gap");
    let copy = disk.contents(&segment::name(3)).expect("it is there");
    let fork = disk.fork();
    overwrite(&fork, &segment::name(2), 0, &copy);
    refused(&fork, "segment 3 twice");
    let fork = disk.fork();
    let header = Header { segment: 2, generation: GENERATION + 1, first_sequence: 3, bytes: 4096 };
    overwrite(&fork, &segment::name(2), 0, &header.encode());
    refused(&fork, "another journal");
    let fork = disk.fork();
    let header = Header { segment: 2, generation: GENERATION, first_sequence: 4, bytes: 4096 };
    overwrite(&fork, &segment::name(2), 0, &header.encode());
    refused(&fork, "a gap in the sequence");
}

#[test]
fn frames_in_flight_behind_a_torn_one_are_cut_and_never_come_back() {
    let disk = MemoryDisk::new(0);
    let (mut writer, ..) = open(&disk, SMALL).expect("an empty folder opens");
    let mut frames = Vec::new();
    for sequence in 1..=4 {
        let payload = payload(sequence, 100);
        frames.push((writer.append(&payload).expect("room"), payload));
        if sequence == 1 {
            writer.sync().expect("a sync");
        }
    }
    drop(writer);
    // Of three writes that no sync followed, a disk may lose the first and keep the others.
    for bytes in [1, 8, 100, 128] {
        let fork = disk.fork();
        overwrite(&fork, &segment::name(1), frames[1].0.at, &vec![0; bytes]);
        let report = continues(&fork, &frames[..1], &format!("{bytes} bytes lost"));
        assert!(report.cut_bytes > 200);
    }
}

#[test]
fn what_recovery_returned_is_durable_even_after_a_failed_sync() {
    for seed in 0..60 {
        let disk = MemoryDisk::new(seed);
        let (mut writer, ..) = open(&disk, SMALL).expect("an empty folder opens");
        writer.append(b"one").expect("room");
        writer.sync().expect("a sync");
        disk.fail_after(0, Fault::SyncFails);
        writer.append(&[2; 600]).expect("room");
        writer.append(&[3; 600]).expect("room");
        assert!(writer.sync().is_err());
        assert!(matches!(writer.sync(), Err(JournalError::Poisoned)));
        drop(writer);
        // The process restarts, the machine does not: all three are read from the cache.
        let (writer, _, before) = open(&disk, SMALL).expect("a sound journal opens");
        assert_eq!(before.len(), 3);
        drop(writer);
        disk.crash(seed);
        let (_, _, after) = open(&disk, SMALL).expect("a sound journal opens");
        assert!(after == before, "seed {seed}: {} frames left", after.len());
    }
}

#[test]
fn recovery_starts_at_any_cursor_and_refuses_a_wrong_one() {
    let (disk, frames) = journal(&[1500, 900, 1500, 1500, 900, 100]);
    let (writer, ..) = open(&disk, SMALL).expect("a sound journal opens");
    let end = writer.next_position();
    drop(writer);
    let mut cursors: Vec<FramePosition> = frames.iter().map(|(position, _)| *position).collect();
    cursors.push(end);
    for (index, cursor) in cursors.iter().enumerate() {
        let (_, report, found) = open_from(&disk, SMALL, Some(*cursor)).expect("a sound journal opens");
        assert!(found == frames[index..], "from {cursor:?}");
        assert_eq!(report.last_sequence, 6);
        let shifted = FramePosition { at: cursor.at + 8, ..*cursor };
        assert!(*cursor == end || open_from(&disk, SMALL, Some(shifted)).is_err(), "{shifted:?}");
    }
    // The cursor behind the last frame of a full segment means the first of the next.
    let full = FramePosition { segment: 1, at: frames[1].0.at + frame_bytes(900), sequence: 3 };
    let (_, _, found) = open_from(&disk, SMALL, Some(full)).expect("a sound journal opens");
    assert!(found == frames[2..]);
    for (segment, sequence) in [(end.segment, 8), (9, 7), (2, 1)] {
        let wrong = FramePosition { segment, sequence, ..end };
        assert!(open_from(&disk, SMALL, Some(wrong)).is_err(), "{wrong:?}");
    }
}

#[test]
fn removed_segments_are_missed_only_by_those_who_need_them() {
    let (disk, frames) = journal(&[1500; 8]);
    let (mut writer, ..) = open(&disk, SMALL).expect("a sound journal opens");
    let cursor = frames[5].0;
    assert_eq!(writer.remove_before(cursor).expect("the disk works"), 2);
    drop(writer);
    let (_, _, found) = open_from(&disk, SMALL, Some(cursor)).expect("all that is needed is there");
    assert!(found == frames[5..]);
    assert!(matches!(open(&disk, SMALL), Err(JournalError::Damaged(_))));
    let inspection = inspect(&disk, &mut |_, _| {}).expect("the disk works");
    assert_eq!((inspection.first_sequence, inspection.report.frames), (5, 4));
    assert_eq!(inspection.damage, None);
}

#[test]
fn leftovers_are_removed_and_other_files_are_not() {
    let (disk, frames) = journal(&[200, 200]);
    for name in ["journal-0000000002.log.tmp", "snapshot-00000000000000000001.snap.tmp", "notes.tmp"] {
        disk.create(name).and_then(|file| file.write_at(b"half", 0)).expect("a file");
    }
    segment::prepare(&disk, 2, 4096).expect("a blank segment");
    let before = inspect(&disk, &mut |_, _| {}).expect("the disk works");
    assert_eq!(before.leftovers.len(), 2, "{:?}", before.leftovers);
    continues(&disk, &frames, "leftovers");
    assert_eq!(disk.list().expect("names"), ["journal-0000000001.log", "notes.tmp"]);
}

#[test]
fn an_inspection_reports_a_torn_tail_and_leaves_it() {
    let (disk, frames) = journal(&[100, 300, 171]);
    disk.flip(&segment::name(1), frames[2].0.at + 30);
    let before = image(&disk);
    let mut seen = 0;
    let inspection = inspect(&disk, &mut |_, _| seen += 1).expect("the disk works");
    assert_eq!((seen, inspection.torn, inspection.damage), (2, Some(frames[2].0), None));
    assert_eq!(inspection.report.cut_bytes, 24 + 171);
    assert_eq!(inspection.generation, Some(GENERATION));
    assert!(image(&disk) == before);
}

#[test]
fn a_frame_the_caller_refuses_stops_the_start_before_anything_changes() {
    let (disk, frames) = journal(&[100, 300, 171]);
    disk.flip(&segment::name(1), frames[2].0.at);
    let before = image(&disk);
    let mut refuse =
        |position: FramePosition, _: &[u8]| if position.sequence == 2 { Err("no") } else { Ok(()) };
    let error = super::open(Arc::new(disk.clone()), SMALL, 1, &mut refuse, None).err();
    assert!(matches!(error, Some(OpenError::Frame("no"))));
    assert!(image(&disk) == before);
}

#[test]
fn the_generation_is_known_before_the_journal_is_opened() {
    let disk = MemoryDisk::new(0);
    assert_eq!(generation(&disk).expect("the disk works"), None);
    let (disk, _) = journal(&[1500; 3]);
    segment::prepare(&disk, 3, 4096).expect("a blank segment");
    assert_eq!(generation(&disk).expect("the disk works"), Some(GENERATION));
}

#[test]
fn a_journal_in_a_real_folder_comes_back_and_is_inspected_without_the_lock() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Options { segment_bytes: 64 << 10, ..Options::default() };
    let mut frames = Vec::new();
    for _ in 0..3 {
        let disk = Arc::new(FolderDisk::open(folder.path()).expect("the lock was dropped"));
        let mut found = Vec::new();
        let mut keep = |_, payload: &[u8]| {
            found.push(payload.to_vec());
            Ok::<(), Infallible>(())
        };
        let (mut writer, _) = super::open(disk, options, 5, &mut keep, None).expect("a sound journal opens");
        assert!(found == frames);
        for index in 0..20 {
            let payload = payload(index, 9000);
            writer.append(&payload).expect("room");
            writer.sync().expect("a sync");
            frames.push(payload);
        }
        let reader = FolderDisk::open_read_only(folder.path()).expect("no lock needed");
        let inspection = inspect(&reader, &mut |_, _| {}).expect("readable");
        assert_eq!((inspection.report.frames, inspection.damage), (frames.len() as u64, None));
    }
}
