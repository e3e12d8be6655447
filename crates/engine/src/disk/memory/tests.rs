//! The memory disk forgets just what a real one may forget.

use super::*;

fn write(disk: &MemoryDisk, name: &str, bytes: &[u8]) -> Arc<dyn DiskFile> {
    let file = disk.create(name).expect("a free name");
    file.write_at(bytes, 0).expect("a write");
    file
}

#[test]
fn a_crash_keeps_all_that_was_synced_and_any_part_of_the_rest() {
    let (mut lost, mut whole, mut torn) = (0, 0, 0);
    for seed in 0..200 {
        let disk = MemoryDisk::new(seed);
        let file = write(&disk, "a", &[1; 2000]);
        file.sync().expect("a sync");
        disk.sync_folder().expect("a sync");
        file.write_at(&[2; 2000], 2000).expect("a write");
        disk.crash(seed);
        let bytes = disk.contents("a").expect("its name was synced");
        assert_eq!(bytes[..2000], [1; 2000], "seed {seed}");
        match bytes[2000..].iter().filter(|byte| **byte == 2).count() {
            0 => lost += 1,
            2000 => whole += 1,
            _ => torn += 1,
        }
        assert!(file.sync().is_err(), "a handle outlived its process");
    }
    assert!(lost > 0 && whole > 0 && torn > 0, "{lost} {whole} {torn}");
}

#[test]
fn a_name_is_safe_only_after_the_folder_was_synced() {
    let (mut kept, mut gone) = (0, 0);
    for seed in 0..50 {
        let disk = MemoryDisk::new(0);
        write(&disk, "a", b"x").sync().expect("a sync");
        disk.crash(seed);
        if disk.contents("a").is_some() { kept += 1 } else { gone += 1 }
    }
    assert!(kept > 0 && gone > 0, "{kept} {gone}");
}

#[test]
fn after_a_failed_sync_a_later_one_does_not_bring_the_data_back() {
    let mut lost = 0;
    for seed in 0..50 {
        let disk = MemoryDisk::new(seed);
        let file = write(&disk, "a", &[0; 600]);
        file.sync().expect("a sync");
        disk.sync_folder().expect("a sync");
        disk.fail_after(0, Fault::SyncFails);
        file.write_at(&[7; 600], 0).expect("a write");
        assert!(file.sync().is_err());
        file.sync().expect("the system believes that all is well");
        assert_eq!(disk.contents("a").expect("named"), [7; 600], "readable from the cache");
        disk.crash(seed);
        lost += usize::from(disk.contents("a").expect("named") != [7; 600]);
    }
    assert!(lost > 0);
}

#[test]
fn a_full_disk_takes_what_fits_and_recovers_when_space_is_freed() {
    let disk = MemoryDisk::new(0);
    disk.set_capacity(Some(10));
    let file = write(&disk, "a", &[1; 8]);
    let error = file.write_at(&[2; 8], 8).expect_err("no space");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(disk.used_bytes(), 10);
    file.write_at(&[3; 10], 0).expect("overwriting takes no space");
    file.set_len(2).expect("shrinking frees space");
    file.write_at(&[4; 8], 2).expect("there is space again");
}

#[test]
fn a_planned_crash_stops_everything_until_the_reboot() {
    let disk = MemoryDisk::new(0);
    let file = write(&disk, "a", b"x");
    disk.fail_after(1, Fault::Crash);
    file.sync().expect("one more operation succeeds");
    assert!(disk.sync_folder().is_err());
    assert!(disk.is_down());
    assert!(disk.list().is_err() && file.write_at(b"y", 0).is_err());
    disk.crash(1);
    disk.list().expect("it is up again");
}

#[test]
fn a_fork_changes_alone() {
    let disk = MemoryDisk::new(0);
    write(&disk, "a", b"one");
    let fork = disk.fork();
    assert!(fork.flip("a", 0));
    assert_eq!(disk.contents("a").expect("named"), b"one");
    assert_ne!(fork.contents("a").expect("named"), b"one");
}
