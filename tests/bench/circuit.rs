//! Evaluation of a compiled circuit against plain sparse matrices, and packing against plain values: `make bench-circuit`.
//!
//! Both evaluations run on one thread, into memory that has been written before, over the real witness of a 2 KiB fixture.
//! The plain matrices are as compact as they come (a 4-byte column and a 2-byte coefficient a term), with shortcuts for values
//! of 0 and 1 and coefficients of ±1. The compiled circuit also checks every row; the plain one does so where it says so.
//! Runs alternate; the medians are printed.
//!
//! `bench_circuit KIND PUBLIC.json VANILLA...`

use std::error::Error;
use std::fs;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Instant;

use bellpepper_core::{Circuit, Index};
use blstrs::Scalar;
use ff::Field;
use splitprove::circuit::compiled::Circuits;
use splitprove::circuit::{record_until, Aux, CompiledCircuit, Matrices, Partition, SparseMatrix};
use splitprove::engine::{compiled_circuit, Options};
use splitprove::memory::Room;
use splitprove::proofs::{self, public_json, CircuitVisitor};
use splitprove::telemetry::Control;
use splitprove::witness::{assign, plain_witness};

const RUNS: usize = 9;

struct Plain;

impl CircuitVisitor for Plain {
    type Output = splitprove::error::Result<Matrices>;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        record_until(circuit, &AtomicBool::new(false))
    }
}

struct Assign<'a>(&'a Arc<CompiledCircuit>);

impl CircuitVisitor for Assign<'_> {
    type Output = (f64, Partition);
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        let begun = Instant::now();
        let partition = assign(circuit, self.0, Room::default(), &AtomicBool::new(false)).unwrap();
        (begun.elapsed().as_secs_f64(), partition)
    }
}

struct Values;

impl CircuitVisitor for Values {
    type Output = f64;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> f64 {
        let begun = Instant::now();
        drop(plain_witness(circuit).unwrap());
        begun.elapsed().as_secs_f64()
    }
}

/// One matrix times the witness. `classes`: 0, 1, or 2 for anything else.
fn multiply(
    matrices: &Matrices,
    matrix: &SparseMatrix,
    inputs: &[Scalar],
    aux: &[Scalar],
    classes: &[u8],
    out: &mut [Scalar],
) {
    for (row, out) in out.iter_mut().enumerate() {
        let mut sum = Scalar::ZERO;
        for (column, k) in matrix.row(row) {
            let coefficient = &matrices.coefficients[usize::from(k)];
            let value = match column.index() {
                Index::Aux(i) => match classes[i] {
                    0 => continue,
                    1 => {
                        sum += coefficient;
                        continue;
                    }
                    _ => &aux[i],
                },
                Index::Input(0) => {
                    sum += coefficient;
                    continue;
                }
                Index::Input(i) => &inputs[i],
            };
            match k {
                0 => sum += value,
                1 => sum -= value,
                _ => sum += *value * coefficient,
            }
        }
        *out = sum;
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn timed(times: &mut Vec<f64>, f: impl FnOnce()) {
    let begun = Instant::now();
    f();
    times.push(begun.elapsed().as_secs_f64());
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, public, vanilla @ ..] = args.as_slice() else {
        return Err("usage: bench_circuit KIND PUBLIC.json VANILLA...".into());
    };
    let pieces = vanilla.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let mut request = public_json::request_from_json(kind.parse()?, &fs::read(public)?)?;
    request.vanilla_lens = pieces.iter().map(|p| p.len() as u64).collect();
    let decoded = proofs::decode(&request, &pieces.concat(), &AtomicBool::new(false))?;
    let id = decoded.circuit();
    let matrices = id.with_blank_circuit(Plain)??;
    let compiled = compiled_circuit(&Circuits::shared(&Options::default().circuit_cache_dir), &id, Control::NONE)?;

    let (mut packing, mut plain_values) = (Vec::new(), Vec::new());
    let mut partition = None;
    for _ in 0..3 {
        plain_values.push(decoded.with_circuit(0, Values)?);
        let (seconds, made) = decoded.with_circuit(0, Assign(&compiled))?;
        packing.push(seconds);
        partition = Some(made);
    }
    let Partition { inputs, aux, .. } = partition.ok_or("no partition")?;
    let plain: Vec<Scalar> = (0..aux.len()).map(|i| aux.get(i)).collect();
    let classes: Vec<u8> =
        plain.iter().map(|v| if v.is_zero_vartime() { 0 } else { 1 + u8::from(*v != Scalar::ONE) }).collect();
    let wide = classes.iter().filter(|c| **c == 2).count();
    let form = match aux {
        Aux::Packed(_) => "packed",
        Aux::Plain(_) => "plain",
    };
    println!(
        "{id}: {} rows, {} aux values, {wide} of them neither 0 nor 1 (at most {}); {form}, {:.2} MB, plain {:.1} MB",
        matrices.shape.constraints,
        plain.len(),
        compiled.wide(),
        compiled.sizes().witness_bytes() as f64 / 1e6,
        plain.len() as f64 * 32.0 / 1e6,
    );
    println!("values alone: plain {:.3} s, as proved {:.3} s", median(plain_values), median(packing));

    let rows = matrices.shape.constraints;
    let mut ours = [0; 3].map(|_| vec![Scalar::ONE; rows]);
    let mut theirs = [0; 3].map(|_| vec![Scalar::ONE; rows]);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (mut csr, mut checked, mut templates, mut two) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let [a, b, c] = &mut theirs;
        timed(&mut csr, || {
            for (matrix, out) in [(&matrices.a, &mut *a), (&matrices.b, &mut *b), (&matrices.c, &mut *c)] {
                multiply(&matrices, matrix, &inputs, &plain, &classes, out);
            }
        });
        let mut check = Vec::new();
        timed(&mut check, || assert!((0..rows).all(|i| a[i] * b[i] == c[i])));
        checked.push(csr[csr.len() - 1] + check[0]);
        let [x, y, z] = &mut ours;
        timed(&mut templates, || {
            let outputs = [Some(&mut x[..]), Some(&mut y[..]), Some(&mut z[..])];
            assert_eq!(pool.install(|| compiled.evaluate(&inputs, &aux, outputs, true, Control::NONE)).unwrap(), None);
        });
        // As proving does: a and b with the check, then c by itself.
        timed(&mut two, || {
            let outputs = [Some(&mut x[..]), Some(&mut y[..]), None];
            assert_eq!(pool.install(|| compiled.evaluate(&inputs, &aux, outputs, true, Control::NONE)).unwrap(), None);
            let outputs = [None, None, Some(&mut z[..])];
            pool.install(|| compiled.evaluate(&inputs, &aux, outputs, false, Control::NONE)).unwrap();
        });
        assert!(ours == theirs);
    }
    let (csr, checked) = (median(csr), median(checked));
    let (templates, two) = (median(templates), median(two));
    println!("plain matrices {csr:.4} s, with a check {checked:.4} s");
    println!(
        "compiled, checked {templates:.4} s: {:.2} of plain, {:.2} of checked",
        templates / csr,
        templates / checked
    );
    println!("compiled, in two passes as proving does {two:.4} s");
    Ok(())
}
