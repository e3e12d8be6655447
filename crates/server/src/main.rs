//! The binary `onsale`.

use std::process::ExitCode;

/// Small allocations on many threads are what a server does all day; mimalloc is the faster hand at it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    onsale_server::cli::main()
}
