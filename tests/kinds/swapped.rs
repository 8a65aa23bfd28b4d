//! Parameters of one kind or size under the name of another's.

use std::fs;
use std::os::unix::fs::symlink;

use splitprove::engine::{params_path, Engine, Options};
use splitprove::error::Code;
use splitprove::proofs::CircuitId;

use crate::fixture::{filecoin_verifies, finish, Fixture};

#[test]
fn parameters_of_another_kind_are_refused_and_the_right_ones_serve() {
    let (window, winning) = (Fixture::window(), Fixture::winning());
    let dir = tempfile::tempdir().unwrap();
    let name = |circuit: &CircuitId| params_path(dir.path(), circuit).unwrap();
    let (of_window, of_winning) = (window.public.circuit().unwrap(), winning.public.circuit().unwrap());
    symlink(window.parameters(), name(&of_winning)).unwrap();
    symlink(winning.parameters(), name(&of_window)).unwrap();
    let engine = Engine::new(Options { params_dir: dir.path().into(), ..Options::default() }).unwrap();
    // Too small a domain for a WinningPoSt, and too large a one for a WindowPoSt.
    for fixture in [&winning, &window] {
        let e = fixture.prove(&engine).unwrap_err();
        assert_eq!((e.code, &*e.field), (Code::ParamsCorrupt, "h"), "{e}");
    }
    // They are not held: the right file serves as soon as it is there.
    assert_eq!(engine.evict_params(&of_window).unwrap(), 0);
    fs::remove_file(name(&of_window)).unwrap();
    symlink(window.parameters(), name(&of_window)).unwrap();
    let proof = window.prove(&engine).unwrap();
    engine.verify(&window.public, &proof).unwrap();
    assert!(filecoin_verifies(&window.public, &proof));
}

#[test]
fn small_parameters_are_none_for_a_large_sector() {
    let winning = Fixture::winning();
    let dir = tempfile::tempdir().unwrap();
    let circuit: CircuitId = "winning-post-32GiB".parse().unwrap();
    symlink(winning.parameters(), params_path(dir.path(), &circuit).unwrap()).unwrap();
    let options = |allow| Options { params_dir: dir.path().into(), allow_insecure_params: allow, ..Options::default() };
    let load = |engine: &Engine, key| finish(&engine.load_params(&circuit, key, 0).unwrap());
    let e = load(&Engine::new(options(false)).unwrap(), 1).unwrap_err();
    assert_eq!((e.code, &*e.field), (Code::ParamsInsecure, "params"), "{e}");
    let engine = Engine::new(options(true)).unwrap();
    assert!(load(&engine, 2).unwrap().is_empty());
    assert!(engine.evict_params(&circuit).unwrap() > 0);
    // Nor by leave, where it must be the listed file.
    let e = load(&Engine::new(Options { check_params_digest: true, ..options(true) }).unwrap(), 3).unwrap_err();
    assert_eq!((e.code, &*e.field), (Code::ParamsInsecure, "params"), "{e}");
}
