//! Fetching a proof's bytes while the reclaimer is at work. A file of its own, as it takes 4 GiB and counts microseconds.

mod capi_support;
#[path = "capi_support/work.rs"]
mod work;

use std::time::{Duration, Instant};

use capi_support::*;
use splitprove::capi::*;
use splitprove::memory::Buf;
use splitprove::telemetry::{Class, Stage};
use work::{free, End};

const PROOFS: usize = 1000;

#[test]
fn finishing_does_not_wait_for_the_reclaimer() {
    let mut options = small();
    options.queue_depth = PROOFS as u32;
    let p = create(&options);
    let proofs: Vec<_> = (0..PROOFS).map(|_| free(p, End::Empty, 0).unwrap()).collect();
    for proof in &proofs {
        assert_eq!(prove_wait(*proof, -1), PROVER_OK);
    }
    // 4 GiB in sixteen buffers, every page of them touched.
    let bytes = 256usize << 20;
    let buffers: Vec<Buf<u8>> = (0..16)
        .map(|_| {
            let mut buf = Buf::<u8>::zeroed("test", bytes).unwrap();
            hooks::with_accounts(p, |accounts| {
                let permit = accounts.budget.try_take(bytes as u64, true).expect("the machine has 4 GiB");
                buf.set_charge(accounts.charge(Class::Evaluations, Stage::Device, permit));
            })
            .unwrap();
            buf.iter_mut().step_by(4096).for_each(|b| *b = 1);
            buf
        })
        .collect();
    let held = || hooks::with_accounts(p, |a| a.buffers.stats(Class::Evaluations, None).count).unwrap();
    assert_eq!(held(), 16);
    drop(buffers);

    let mut times: Vec<Duration> = Vec::with_capacity(PROOFS);
    for proof in proofs {
        let (mut buf, mut len) = ([0u8; 192], 0);
        let begun = Instant::now();
        // SAFETY: the pointers are of living values; whoever has no use for an error gives none.
        let status = unsafe {
            finish_pending_proof(
                proof,
                buf.as_mut_ptr(),
                buf.len(),
                &mut len,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        times.push(begun.elapsed());
        assert_eq!((status, len), (PROVER_OK, 0));
    }
    let after = held();
    times.sort();
    println!(
        "finish: median {:?}, p99 {:?}, worst {:?}; {after} buffers left after",
        times[500], times[990], times[999]
    );
    assert!(after > 0, "the buffers were freed too early to matter");
    assert!(times[990] < Duration::from_millis(1), "p99 {:?}", times[990]);
    let begun = Instant::now();
    while held() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{} buffers are left", held());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(prover_destroy(p), PROVER_OK);
}
