//! The Merkle tree of RFC 6962 (Certificate Transparency) over the entries of a draw at the end. Its root is published
//! before the beacon, and fixes who takes part under which number.

use sha2::{Digest, Sha256};

use crate::award::bytes::Bytes32;

/// The leaf of an entry: the unit in 4 bytes, big endian, and the reservation's id, which not everybody knows.
pub fn entry(unit: u32, reservation: &str) -> Vec<u8> {
    [&unit.to_be_bytes()[..], reservation.as_bytes()].concat()
}

/// The hash of a leaf: SHA-256 of a byte 0 and the leaf.
pub fn leaf_hash(leaf: &[u8]) -> Bytes32 {
    Sha256::new().chain_update([0]).chain_update(leaf).finalize().into()
}

fn node(left: &Bytes32, right: &Bytes32) -> Bytes32 {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// The root of the tree over `leaves`. Without leaves it is SHA-256 of the empty string.
pub fn root<L: AsRef<[u8]>>(leaves: &[L]) -> Bytes32 {
    root_of_hashes(leaves.iter().map(|leaf| leaf_hash(leaf.as_ref())).collect())
}

pub fn root_of_hashes(mut level: Vec<Bytes32>) -> Bytes32 {
    while level.len() > 1 {
        level = above(&level);
    }
    level.pop().unwrap_or_else(|| Sha256::digest([]).into())
}

/// The next level of the tree. A node without a neighbour moves up unchanged, which gives the tree of the RFC.
fn above(level: &[Bytes32]) -> Vec<Bytes32> {
    let parent = |pair: &[Bytes32]| match pair {
        [left, right] => node(left, right),
        one => one[0],
    };
    level.chunks(2).map(parent).collect()
}

/// Proves that the leaf at `index` (from 0) is in the tree: the hashes beside its path, from the leaf up. Panics if
/// there is no such leaf.
pub fn proof<L: AsRef<[u8]>>(leaves: &[L], index: usize) -> Vec<Bytes32> {
    assert!(index < leaves.len(), "{index} is not one of {} leaves", leaves.len());
    let mut level: Vec<Bytes32> = leaves.iter().map(|leaf| leaf_hash(leaf.as_ref())).collect();
    let mut at = index;
    let mut beside = Vec::new();
    while level.len() > 1 {
        beside.extend(level.get(at ^ 1));
        level = above(&level);
        at /= 2;
    }
    beside
}

/// Whether the leaf is at `index` of the tree with this root and number of leaves, by the algorithm of RFC 9162, 2.1.3.2.
pub fn verify(root: &Bytes32, leaf: &[u8], index: usize, leaves: usize, proof: &[Bytes32]) -> bool {
    if index >= leaves {
        return false;
    }
    let (mut at, mut last) = (index, leaves - 1);
    let mut hash = leaf_hash(leaf);
    for beside in proof {
        if last == 0 {
            return false;
        }
        if at % 2 == 1 || at == last {
            hash = node(beside, &hash);
            while at % 2 == 0 && at != 0 {
                at /= 2;
                last /= 2;
            }
        } else {
            hash = node(&hash, beside);
        }
        at /= 2;
        last /= 2;
    }
    last == 0 && hash == *root
}
