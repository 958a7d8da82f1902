use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The limit that every shell allows.
const FEWEST: u64 = 1_024;

/// Raises the limit of open files to `count` for this program and programs it starts, as far as permitted. Returns the
/// limit that applies then; connections beyond it fail with an error.
pub fn allow_open_files(count: u64) -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return FEWEST };
    let wanted = count.min(hard).max(soft);
    if soft < wanted && setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_err() {
        return soft;
    }
    wanted
}
