//! The compiled form against full synthesis and against plain matrices.

use std::sync::atomic::AtomicBool;

use bellpepper_core::{Circuit, Index};
use blstrs::Scalar;
use ff::Field;

use super::code::{Code, Kind};
use super::*;
use crate::circuit::testing::{styles, Numbers, RandomCircuit, Style, Values};
use crate::circuit::{record, record_until, Column, Matrices, Packer, SparseMatrix};
use crate::memory::{Buf, Room};
use crate::proofs::{CircuitId, CircuitVisitor};
use crate::witness::synthesize;

fn identity() -> Identity {
    Identity { circuit: "test".into(), crates: "none".into() }
}

fn recorded<C: Circuit<Scalar>>(circuit: C) -> Recorded {
    Recorded::record(circuit, identity(), 0, Control::NONE).unwrap()
}

fn packed(values: &[Scalar]) -> Aux {
    let mut packer = Packer::new();
    values.iter().for_each(|v| packer.push(v).unwrap());
    Aux::Packed(packer.finish().unwrap())
}

fn plain(values: &[Scalar]) -> Aux {
    Aux::Plain(Buf::copy_of("test", values).unwrap())
}

/// The rows of matrix `m`, as the compiled form has them: terms with variables by index.
fn rows(code: &Code, m: usize) -> Vec<Vec<(Index, Scalar)>> {
    let (mut aux, mut inputs) = (0, 1);
    let mut out = Vec::new();
    for chunk in &code.sequence {
        for symbol in code.chunk(*chunk) {
            let symbol = code.symbols[*symbol as usize];
            aux += symbol.aux;
            inputs += symbol.inputs;
            let mut row = Vec::new();
            for term in code.template(symbol.template)[m] {
                let number = term.place.number();
                let mut coefficient = code.coefficients[usize::from(term.coefficient)];
                for k in 0..u32::from(term.run) {
                    let index = match term.place.kind() {
                        Kind::Back => Index::Aux((aux - number + k) as usize),
                        Kind::Aux => Index::Aux(number as usize),
                        Kind::InputBack => Index::Input((inputs - number) as usize),
                        Kind::Input => Index::Input(number as usize),
                    };
                    row.push((index, coefficient));
                    coefficient = coefficient.double();
                }
            }
            out.push(row);
        }
    }
    out
}

fn assert_same_rows(code: &Code, matrices: &Matrices) {
    assert_eq!(code.shape, matrices.shape);
    for (m, matrix) in [&matrices.a, &matrices.b, &matrices.c].into_iter().enumerate() {
        let rows = rows(code, m);
        assert_eq!(rows.len() + code.shape.inputs, matrix.rows());
        for (i, row) in rows.into_iter().enumerate() {
            let term = |(column, k): (Column, u16)| (column.index(), matrices.coefficients[usize::from(k)]);
            assert!(matrix.row(i).map(term).eq(row), "matrix {m}, row {i}");
        }
    }
}

/// Plain matrices times a witness.
fn product(matrices: &Matrices, matrix: &SparseMatrix, inputs: &[Scalar], aux: &[Scalar]) -> Vec<Scalar> {
    let value = |(column, k): (Column, u16)| {
        let value = match column.index() {
            Index::Input(i) => inputs[i],
            Index::Aux(i) => aux[i],
        };
        if value == Scalar::ZERO {
            return value;
        }
        value * matrices.coefficients[usize::from(k)]
    };
    (0..matrix.rows()).map(|row| matrix.row(row).map(value).sum()).collect()
}

/// Evaluates into outputs that are longer than the circuit and hold something else.
fn evaluated(circuit: &CompiledCircuit, inputs: &[Scalar], aux: &Aux) -> ([Vec<Scalar>; 3], Option<usize>) {
    let rows = circuit.shape().constraints;
    let mut out = [0; 3].map(|_| vec![Scalar::from(77); rows + 3]);
    let [a, b, c] = &mut out;
    let failed = circuit.evaluate(inputs, aux, [Some(a), Some(b), Some(c)], true, Control::NONE).unwrap();
    let mut alone = vec![Scalar::from(78); rows + 3];
    for (m, all) in out.iter_mut().enumerate() {
        let mut outputs = [None, None, None];
        outputs[m] = Some(&mut alone[..]);
        assert_eq!(circuit.evaluate(inputs, aux, outputs, false, Control::NONE).unwrap(), None);
        assert!(alone[..rows] == all[..rows], "matrix {m} by itself");
        assert!(all[rows..].iter().all(|s| *s == Scalar::from(77)));
        all.truncate(rows);
    }
    (out, failed)
}

fn long_styles() -> Vec<Style> {
    let mut all = styles();
    for values in [Values::Wide, Values::Bits, Values::Zeros, Values::Ones] {
        for (inputs, rows, terms) in [(1, 3000, 4), (20, 1000, 40), (300, 2000, 5)] {
            all.push(Style { inputs, rows, terms, values });
        }
    }
    all
}

#[test]
fn rows_and_results_are_those_of_synthesis() {
    for (seed, style) in long_styles().into_iter().enumerate() {
        let circuit = RandomCircuit::new(seed as u64, style);
        let matrices = record(circuit.blank()).unwrap();
        let recorded = recorded(circuit.blank());
        assert_same_rows(&recorded.code, &matrices);
        recorded.compare(circuit.blank(), Control::NONE).unwrap();
        let other = RandomCircuit::new(seed as u64 + 1, style);
        if recorded.code != self::recorded(other.blank()).code {
            let e = recorded.compare(other.blank(), Control::NONE).unwrap_err();
            assert_eq!(&*e.field, "circuit.sequence", "{style:?}");
        }
        let bytes = recorded.to_bytes().unwrap();
        let again = Recorded::from_bytes(&bytes, &identity()).unwrap();
        assert_eq!(again, recorded, "{style:?}");
        let compiled = again.ready().unwrap();
        assert_eq!(*compiled.densities(), matrices.densities(), "{style:?}");

        let full = synthesize(circuit.clone(), &matrices.shape, Room::default(), &AtomicBool::new(false)).unwrap();
        let witness = &full.witness;
        for aux in [packed(&witness.aux), plain(&witness.aux)] {
            let ([a, b, c], failed) = evaluated(&compiled, &witness.inputs, &aux);
            assert!(a == full.evaluations.a[..] && b == full.evaluations.b[..], "{style:?}");
            assert!((0..c.len()).all(|i| c[i] == a[i] * b[i]), "{style:?}");
            assert_eq!(failed, None, "{style:?}");
        }
    }
}

#[test]
fn the_first_row_that_fails_is_found() {
    for (seed, style) in long_styles().into_iter().enumerate() {
        let circuit = RandomCircuit::new(1000 + seed as u64, style);
        let compiled = recorded(circuit.blank()).ready().unwrap();
        let matrices = record(circuit.blank()).unwrap();
        let full = synthesize(circuit.clone(), &matrices.shape, Room::default(), &AtomicBool::new(false)).unwrap();
        let mut numbers = Numbers::new(seed as u64);
        for _ in 0..4 {
            let mut values = full.witness.aux.to_vec();
            let wrong = numbers.below(values.len());
            values[wrong] += Scalar::from(1 + numbers.below(2) as u64);
            let of = |matrix| product(&matrices, matrix, &full.witness.inputs, &values);
            let (a, b, c) = (of(&matrices.a), of(&matrices.b), of(&matrices.c));
            let expected = (0..a.len()).find(|i| a[*i] * b[*i] != c[*i]);
            for aux in [packed(&values), plain(&values)] {
                let (out, failed) = evaluated(&compiled, &full.witness.inputs, &aux);
                assert!(out[0] == a && out[1] == b && out[2] == c, "{style:?}");
                assert_eq!(failed, expected, "{style:?}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let circuit = RandomCircuit::new(5, Style { inputs: 2, rows: 50, terms: 4, values: Values::Bits });
    let compiled = recorded(circuit.blank()).ready().unwrap();
    let Shape { constraints, inputs, aux } = compiled.shape();
    let scalars = |n: usize| vec![Scalar::ONE; n];
    let mut room = scalars(constraints);
    for (inputs, aux, rows) in
        [(inputs + 1, aux, constraints), (inputs, aux - 1, constraints), (inputs, aux, constraints - 1)]
    {
        let outputs = [Some(&mut room[..rows]), None, None];
        let aux = plain(&scalars(aux));
        let e = compiled.evaluate(&scalars(inputs), &aux, outputs, false, Control::NONE).unwrap_err();
        assert_eq!(e.code, crate::error::Code::Internal);
    }
    let control = Control { cancelled: &AtomicBool::new(true), progress: &|_| {} };
    let aux = packed(&scalars(aux));
    let e = compiled.evaluate(&scalars(inputs), &aux, [Some(&mut room), None, None], false, control).unwrap_err();
    assert_eq!(e.code, crate::error::Code::Cancelled);
}

struct Plain;

impl CircuitVisitor for Plain {
    type Output = Matrices;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Matrices {
        record_until(circuit, &AtomicBool::new(false)).unwrap()
    }
}

struct Compile;

impl CircuitVisitor for Compile {
    type Output = Recorded;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Recorded {
        recorded(circuit)
    }
}

/// A circuit of Filecoin's: every row of the matrices, the densities, and the results over a witness that is made up.
fn filecoin(name: &str) {
    let id: CircuitId = name.parse().unwrap();
    let matrices = id.with_blank_circuit(Plain).unwrap();
    let recorded = id.with_blank_circuit(Compile).unwrap();
    assert_same_rows(&recorded.code, &matrices);
    let bytes = recorded.to_bytes().unwrap();
    assert_eq!(Recorded::from_bytes(&bytes, &identity()).unwrap(), recorded);
    let compiled = recorded.ready().unwrap();
    assert!(*compiled.densities() == matrices.densities());
    let Shape { inputs, aux, .. } = compiled.shape();
    let mut numbers = Numbers::new(9);
    let mut value = |wide: usize| match numbers.below(1000) {
        n if n < wide => numbers.scalar(),
        n => Scalar::from(n as u64 % 2),
    };
    let mut inputs: Vec<Scalar> = (0..inputs).map(|_| value(500)).collect();
    inputs[0] = Scalar::ONE;
    let aux: Vec<Scalar> = (0..aux).map(|i| value(if i / 1000 % 7 == 0 { 900 } else { 15 })).collect();
    let of = |matrix| product(&matrices, matrix, &inputs, &aux);
    let expected = [of(&matrices.a), of(&matrices.b), of(&matrices.c)];
    let [a, b, c] = &expected;
    let first = (0..a.len()).find(|i| a[*i] * b[*i] != c[*i]);
    for aux in [packed(&aux), plain(&aux)] {
        let (out, failed) = evaluated(&compiled, &inputs, &aux);
        assert!(out == expected);
        assert_eq!(failed, first);
    }
}

#[test]
fn porep_2kib() {
    filecoin("porep-2KiB");
}

#[test]
fn snap_2kib() {
    filecoin("snap-2KiB");
}

#[test]
fn posts_2kib() {
    filecoin("window-post-2KiB");
    filecoin("winning-post-2KiB");
}

#[test]
#[ignore = "gigabytes of matrices"]
fn all_8mib() {
    for kind in ["window-post", "winning-post", "snap", "porep"] {
        filecoin(&format!("{kind}-8MiB"));
    }
}
