//! The binary `onsale`.

use std::process::ExitCode;

/// Small allocations on many threads are what a server does all day; mimalloc is the faster hand at it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    small_pages();
    onsale::cli::main()
}

/// The system clears memory in 4 KiB pieces as we grow, not in 2 MiB ones: who asks just then waits microseconds, not
/// a millisecond. Where that cannot be asked for, answers are only less even.
fn small_pages() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
