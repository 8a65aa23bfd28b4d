//! The same through the C surface: prove_start's vanilla_count and vanilla_lens, prover_verify's sectors.

use std::os::unix::ffi::OsStrExt;

use splitprove::capi::*;

use crate::capi_support::*;
use crate::fixture::{filecoin_verifies, Fixture};

fn c_request(fixture: &Fixture) -> prove_request {
    let r = &fixture.request;
    let mut c = request(&fixture.vanilla);
    c.kind = r.kind as u32;
    c.registered_proof = r.registered_proof;
    c.partition_index = r.partition_index;
    c.vanilla_count = r.vanilla_lens.len() as u32;
    c.vanilla_lens = r.vanilla_lens.as_ptr();
    (c.miner_id, c.sector_number) = (r.miner_id, r.sector_number);
    c.randomness = r.randomness;
    (c.comm_r_old, c.comm_r_new, c.comm_d_new) = (r.comm_r_old, r.comm_r_new, r.comm_d_new);
    c
}

fn verify(p: prover, fixture: &Fixture, proof: &[u8]) -> Said {
    let public = &fixture.public;
    let sectors: Vec<prover_sector> =
        public.sectors.iter().map(|s| prover_sector { sector_number: s.sector_number, comm_r: s.comm_r }).collect();
    let mut c = sized!(prover_public);
    c.kind = public.kind as u32;
    c.registered_proof = public.registered_proof;
    c.sector_count = sectors.len() as u32;
    c.sectors = sectors.as_ptr();
    (c.miner_id, c.sector_number) = (public.miner_id, public.sector_number);
    c.randomness = public.randomness;
    (c.comm_r_old, c.comm_r_new, c.comm_d_new) = (public.comm_r_old, public.comm_r_new, public.comm_d_new);
    // SAFETY: all pointers are of living values.
    said(|err| unsafe { prover_verify(p, &c, proof.as_ptr(), proof.len(), err) })
}

/// The engine's state; its last partition may still be held for a moment.
fn status(p: prover) -> serde_json::Value {
    loop {
        let mut text = vec![0u8; 1 << 16];
        // SAFETY: the buffer is as long as is said.
        let len = unsafe { prover_status_json(p, text.as_mut_ptr().cast(), text.len()) };
        let status: serde_json::Value = serde_json::from_slice(&text[..len]).unwrap();
        if status["params"].as_array().unwrap().iter().all(|held| held["users"] == 0) {
            return status;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn every_kind_through_the_c_surface() {
    let whole = Fixture::window();
    let fixtures = [Fixture::winning(), whole.only(0..2, 0), whole.only(2..3, 1), Fixture::window(), Fixture::snap()];
    let folder = fixtures.each_ref().map(Fixture::parameters)[0].parent().unwrap().to_path_buf();
    let mut options = sized!(prover_options);
    let folder = std::ffi::CString::new(folder.as_os_str().as_bytes()).unwrap();
    options.params_dir = folder.as_ptr();
    let p = create(&options);
    for fixture in &fixtures {
        let proof = finish(start(p, &c_request(fixture)).unwrap()).unwrap();
        assert!(filecoin_verifies(&fixture.public, &proof));
        let good = verify(p, fixture, &proof);
        assert_eq!(good.status, PROVER_OK, "{good:?}");
        for (other, _) in fixtures.iter().zip(0..).filter(|(other, _)| other.public != fixture.public) {
            assert_eq!(verify(p, other, &proof).status, PROVER_ERR_PROOF_INVALID);
        }
    }
    let held = status(p);
    for circuit in ["winning-post-2KiB", "window-post-2KiB", "snap-2KiB"] {
        let held = held["params"].as_array().unwrap().iter().find(|held| held["circuit"] == circuit).unwrap();
        assert_eq!((&held["state"], &held["users"]), (&"resident".into(), &0.into()));
        assert!(held["bytes"].as_u64().unwrap() > 1 << 23 && held["file"].as_str().unwrap().ends_with(".params"));
    }
    let refused = |fixture: &Fixture, code: i32, field: &str, change: fn(&mut prove_request)| {
        let mut r = c_request(fixture);
        change(&mut r);
        fails(finish(start(p, &r).unwrap()).unwrap_err(), code, field);
    };
    let opening = "vanilla[0].vanilla_proof.sectors[0].inclusion_proofs[0]";
    refused(&whole, PROVER_ERR_MALFORMED_INPUT, opening, |r| r.randomness[0] ^= 1);
    // No proof ends as INVALID_ARGUMENT: what decoding says of the request is about its input, too.
    refused(&whole, PROVER_ERR_MALFORMED_INPUT, "partition_index", |r| r.partition_index = 1);
    refused(&Fixture::winning(), PROVER_ERR_MALFORMED_INPUT, opening, |r| r.randomness[0] ^= 1);
    let snap = Fixture::snap();
    refused(&snap, PROVER_ERR_MALFORMED_INPUT, "comm_r_old", |r| r.comm_r_old[0] ^= 1);
    refused(&snap, PROVER_ERR_MALFORMED_INPUT, "comm_r_new", |r| r.comm_r_new[0] ^= 1);
    refused(&snap, PROVER_ERR_MALFORMED_INPUT, "comm_d_new", |r| r.comm_d_new[0] ^= 1);
    assert_eq!(prover_destroy(p), PROVER_OK);
}
