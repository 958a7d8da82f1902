use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// What every shell allows.
const FEWEST: u64 = 1_024;

/// Allows this program and those that it starts from now on so many open files, if it may. How many are allowed then:
/// connections fail beyond that, and say so.
///
/// Shells allow 1,024 by default, and programs may raise that.
pub fn allow_open_files(count: u64) -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return FEWEST };
    let wanted = count.min(hard).max(soft);
    if soft < wanted && setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_err() {
        return soft;
    }
    wanted
}
