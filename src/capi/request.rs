//! Requests and public statements, from C's structs to ours.

use std::ffi::c_char;
use std::time::Duration;

use xxhash_rust::xxh3::Xxh3;

use super::convert::slice;
use super::structs::{prove_request, prover_public};
use crate::engine::Priority;
use crate::error::{Code, Error, Result};
use crate::memory::{Buf, MachineMemory};
use crate::proofs::{registered, Kind, Public, Request, Sector};

/// Requests up to this size are not compared with the machine's memory: looking that up takes longer than copying them.
const SMALL_REQUEST: u64 = 1 << 30;

/// Bytes that are copied and then hashed, small enough for the second-level cache.
const HASHED_AT_ONCE: usize = 128 << 10;

/// A request's content, the caller's memory left behind.
pub(super) struct Taken {
    pub(super) request: Request,
    pub(super) vanilla: Buf<u8>,
    pub(super) request_id: String,
    pub(super) fingerprint: u128,
}

/// A checked request whose bytes are still the caller's.
pub(super) struct Checked<'a> {
    request: Request,
    bytes: &'a [u8],
    pub(super) priority: Priority,
    pub(super) deadline: Option<Duration>,
    pub(super) request_id: String,
}

/// Checks a request and copies nothing. Errors name the field; `TOO_LARGE` when `memory_limit` (0: the machine's memory)
/// cannot hold it.
///
/// # Safety
/// `vanilla` and `vanilla_lens` are NULL or point to as many readable values as the request says.
pub(super) unsafe fn check<'a>(c: &prove_request, memory_limit: u64) -> Result<Checked<'a>> {
    let kind = Kind::from_number(c.kind)?;
    registered::circuit(kind, c.registered_proof)?;
    let priority = Priority::from_number(c.priority, kind)?;
    let deadline = match u64::try_from(c.deadline_ns) {
        Ok(0) => None,
        Ok(ns) => Some(Duration::from_nanos(ns)),
        Err(_) => return Err(Error::argument("deadline_ns", format!("{} is before now", c.deadline_ns))),
    };
    let request_id = request_id(&c.request_id)?;
    // SAFETY: the caller's promise is ours.
    let vanilla_lens = unsafe { lens(c, kind) }?;
    let most = match memory_limit {
        0 if c.vanilla_len <= SMALL_REQUEST => u64::MAX,
        0 => MachineMemory::read().total,
        limit => limit,
    };
    if c.vanilla_len > most {
        let text = format!("{} bytes, the memory given is {most}", c.vanilla_len);
        return Err(Error::new(Code::TooLarge, "vanilla_len", text));
    }
    // SAFETY: vanilla_len readable bytes, as the caller says.
    let bytes = unsafe { slice("vanilla", c.vanilla, c.vanilla_len as usize) }?;
    let request = Request {
        kind,
        registered_proof: c.registered_proof,
        partition_index: c.partition_index,
        miner_id: c.miner_id,
        sector_number: c.sector_number,
        randomness: c.randomness,
        comm_r_old: c.comm_r_old,
        comm_r_new: c.comm_r_new,
        comm_d_new: c.comm_d_new,
        vanilla_lens,
    };
    Ok(Checked { request, bytes, priority, deadline, request_id })
}

impl Checked<'_> {
    /// Bytes of the vanilla proofs.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The digest of the content, read where the caller has it: for a request that may only join another.
    pub(super) fn fingerprint(&self) -> u128 {
        let mut hash = begin_fingerprint(&self.request);
        hash.update(self.bytes);
        hash.digest128()
    }

    /// Copies the bytes.
    pub(super) fn take(self) -> Result<Taken> {
        let Checked { request, bytes, request_id, .. } = self;
        let mut vanilla = Buf::zeroed("vanilla", bytes.len())?;
        let fingerprint = if request_id.is_empty() {
            vanilla.copy_from_slice(bytes);
            0
        } else {
            let mut hash = begin_fingerprint(&request);
            for (to, from) in vanilla.chunks_mut(HASHED_AT_ONCE).zip(bytes.chunks(HASHED_AT_ONCE)) {
                to.copy_from_slice(from);
                // Our copy, so that what is compared is what is proved; and while it is in the cache.
                hash.update(to);
            }
            hash.digest128()
        };
        Ok(Taken { request, vanilla, request_id, fingerprint })
    }
}

/// The lengths of the vanilla proofs: none empty, together `vanilla_len`.
///
/// # Safety
/// As for [`check`].
unsafe fn lens(c: &prove_request, kind: Kind) -> Result<Vec<u64>> {
    let count = c.vanilla_count;
    if count == 0 || kind == Kind::Porep && count != 1 {
        let want = if kind == Kind::Porep { "has one C1 output" } else { "has at least one" };
        return Err(Error::argument("vanilla_count", format!("{count} vanilla proofs, {kind} {want}")));
    }
    // Before the list is looked at: a list for so many bytes cannot be longer.
    if c.vanilla_len < u64::from(count) {
        return Err(Error::argument("vanilla_len", format!("{} bytes for {count} vanilla proofs", c.vanilla_len)));
    }
    if c.vanilla_lens.is_null() && count == 1 {
        return Ok(vec![c.vanilla_len]);
    }
    // SAFETY: vanilla_count readable lengths, as the caller says.
    let theirs = unsafe { slice("vanilla_lens", c.vanilla_lens, count as usize) }?;
    let lens = copied(theirs, "vanilla_lens")?;
    let mut sum = 0u64;
    for (i, len) in lens.iter().enumerate() {
        if *len == 0 {
            return Err(Error::argument("vanilla_lens", format!("vanilla proof {i} is empty")));
        }
        sum = sum.checked_add(*len).ok_or_else(|| Error::argument("vanilla_lens", "their sum has no 64 bits"))?;
    }
    if sum != c.vanilla_len {
        return Err(Error::argument("vanilla_lens", format!("their sum is {sum}, vanilla_len {}", c.vanilla_len)));
    }
    Ok(lens)
}

fn copied<T: Copy>(from: &[T], what: &'static str) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(from.len()).map_err(|_| Error::out_of_memory(what, size_of_val(from)))?;
    list.extend_from_slice(from);
    Ok(list)
}

fn request_id(c: &[c_char; 64]) -> Result<String> {
    let bytes = c.map(|b| b as u8);
    let end = bytes.iter().position(|b| *b == 0);
    let end = end.ok_or_else(|| Error::argument("request_id", "it does not end in NUL within 64 bytes"))?;
    match std::str::from_utf8(&bytes[..end]) {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Err(Error::argument("request_id", "it is not UTF-8")),
    }
}

/// A digest of everything that decides what is proved, as far as the vanilla proofs.
fn begin_fingerprint(r: &Request) -> Xxh3 {
    let mut hash = Xxh3::new();
    for word in [r.kind as u32, r.registered_proof, r.partition_index] {
        hash.update(&word.to_le_bytes());
    }
    for word in [r.miner_id, r.sector_number, r.vanilla_lens.len() as u64] {
        hash.update(&word.to_le_bytes());
    }
    for bytes in [&r.randomness, &r.comm_r_old, &r.comm_r_new, &r.comm_d_new] {
        hash.update(bytes);
    }
    for len in &r.vanilla_lens {
        hash.update(&len.to_le_bytes());
    }
    hash
}

/// A public statement.
///
/// # Safety
/// `sectors` is NULL or points to `sector_count` readable sectors.
pub(super) unsafe fn public(c: &prover_public) -> Result<Public> {
    let kind = Kind::from_number(c.kind)?;
    let sectors = if matches!(kind, Kind::WindowPost | Kind::WinningPost) {
        if c.sector_count == 0 {
            return Err(Error::argument("sector_count", format!("{kind} has at least one sector")));
        }
        // SAFETY: sector_count readable sectors, as the caller says.
        let theirs = unsafe { slice("sectors", c.sectors, c.sector_count as usize) }?;
        let mut sectors = Vec::new();
        let full = |_| Error::out_of_memory("sectors", size_of_val(theirs));
        sectors.try_reserve_exact(theirs.len()).map_err(full)?;
        sectors.extend(theirs.iter().map(|s| Sector { sector_number: s.sector_number, comm_r: s.comm_r }));
        sectors
    } else {
        Vec::new()
    };
    Ok(Public {
        kind,
        registered_proof: c.registered_proof,
        miner_id: c.miner_id,
        sector_number: c.sector_number,
        ticket: c.ticket,
        seed: c.seed,
        comm_d: c.comm_d,
        comm_r: c.comm_r,
        randomness: c.randomness,
        comm_r_old: c.comm_r_old,
        comm_r_new: c.comm_r_new,
        comm_d_new: c.comm_d_new,
        sectors,
    })
}
