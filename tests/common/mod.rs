//! Small circuits for tests, satisfied by construction, and their parameters by bellperson's generator.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use bellperson::groth16::{generate_random_parameters, Parameters};
use blstrs::{Bls12, Scalar};
use ff::Field;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use splitprove::circuit::{CompiledCircuit, Identity, Partition, Recorded};
use splitprove::memory::{Buf, Room};
use splitprove::params::Params;
use splitprove::telemetry::Control;
use splitprove::witness::assign;

/// What the witness of a [`SmallCircuit`] looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Long rows, random values.
    Dense,
    /// Short rows; bits and a few products.
    Sparse,
    /// Every aux value is zero.
    AllZero,
    /// Every aux value is one.
    AllOne,
}

/// A circuit drawn from a seed. Its matrices depend on `structure` only, so circuits with equal structure and other
/// `values` share parameters.
#[derive(Clone, Debug)]
pub struct SmallCircuit {
    pub style: Style,
    pub inputs: usize,
    pub rows: usize,
    pub structure: u64,
    pub values: u64,
    /// Spoils the last row.
    pub broken: bool,
}

impl SmallCircuit {
    pub fn new(style: Style, inputs: usize, rows: usize, seed: u64) -> Self {
        SmallCircuit { style, inputs, rows, structure: seed, values: seed ^ 0x5eed, broken: false }
    }

    /// The public inputs, without the constant one.
    pub fn public_inputs(&self) -> Vec<Scalar> {
        let mut values = StdRng::seed_from_u64(self.values);
        (0..self.inputs).map(|i| self.input_value(i, &mut values)).collect()
    }

    fn input_value(&self, i: usize, values: &mut StdRng) -> Scalar {
        match self.style {
            Style::AllZero => Scalar::ZERO,
            Style::AllOne => Scalar::ONE,
            Style::Sparse if !i.is_multiple_of(3) => Scalar::from(u64::from(values.gen::<bool>())),
            _ => Scalar::random(values),
        }
    }

    pub fn parameters(&self) -> Parameters<Bls12> {
        let mut rng = StdRng::seed_from_u64(self.structure ^ 0x9a7a);
        generate_random_parameters::<Bls12, _, _>(self.clone(), &mut rng).unwrap()
    }
}

struct Known {
    variable: Variable,
    value: Scalar,
}

fn combination(known: &[Known], terms: &[(usize, Scalar)]) -> (LinearCombination<Scalar>, Scalar) {
    let mut sum = Scalar::ZERO;
    let mut lc = LinearCombination::zero();
    for (i, c) in terms {
        lc = lc + (*c, known[*i].variable);
        sum += known[*i].value * c;
    }
    (lc, sum)
}

impl Circuit<Scalar> for SmallCircuit {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut structure = StdRng::seed_from_u64(self.structure);
        let mut values = StdRng::seed_from_u64(self.values);
        let mut known = vec![Known { variable: CS::one(), value: Scalar::ONE }];
        for i in 0..self.inputs {
            let value = self.input_value(i, &mut values);
            let variable = cs.alloc_input(|| format!("input {i}"), || Ok(value))?;
            known.push(Known { variable, value });
        }
        let with_one = known.len();
        for row in 0..self.rows {
            let mut pick = |from: usize, to: usize, n: usize, wide: bool| -> Vec<(usize, Scalar)> {
                (0..n)
                    .map(|_| {
                        let c = match structure.gen_range(0..4) {
                            0 => Scalar::ONE,
                            1 => -Scalar::ONE,
                            2 => Scalar::from(1u64 << structure.gen_range(0..40)),
                            _ if wide => Scalar::random(&mut structure),
                            _ => Scalar::ONE,
                        };
                        (structure.gen_range(from..to), c)
                    })
                    .collect()
            };
            let last = self.broken && row + 1 == self.rows;
            let spoil = if last { Scalar::ONE } else { Scalar::ZERO };
            match self.style {
                Style::Dense => {
                    let (a, av) = combination(&known, &pick(0, known.len(), 6, true));
                    let (b, bv) = combination(&known, &pick(0, known.len(), 4, true));
                    let (c, cv) = combination(&known, &pick(0, known.len(), 3, true));
                    let value = av * bv - cv + spoil;
                    let variable = cs.alloc(|| format!("aux {row}"), || Ok(value))?;
                    cs.enforce(|| format!("row {row}"), |_| a, |_| b, |_| c + variable);
                    known.push(Known { variable, value });
                }
                Style::Sparse if row % 4 != 3 => {
                    let value = Scalar::from(u64::from(values.gen::<bool>())) + spoil + spoil;
                    let variable = cs.alloc(|| format!("bit {row}"), || Ok(value))?;
                    cs.enforce(|| format!("bit row {row}"), |l| l + CS::one() - variable, |l| l + variable, |l| l);
                    known.push(Known { variable, value });
                }
                Style::Sparse => {
                    let (a, av) = combination(&known, &pick(0, known.len(), 2, false));
                    let (b, bv) = combination(&known, &pick(0, known.len(), 1, false));
                    let value = av * bv + spoil;
                    let variable = cs.alloc(|| format!("product {row}"), || Ok(value))?;
                    cs.enforce(|| format!("row {row}"), |_| a, |_| b, |l| l + variable);
                    known.push(Known { variable, value });
                }
                Style::AllZero => {
                    // Row 0 has nothing but inputs and the constant to multiply.
                    let (from, to) = if known.len() > with_one { (with_one, known.len()) } else { (0, 1) };
                    let (a, av) = combination(&known, &pick(from, to, 2, true));
                    let (b, bv) = combination(&known, &pick(from, to, 1, true));
                    let value = spoil;
                    let variable = cs.alloc(|| format!("zero {row}"), || Ok(value))?;
                    let rest = av * bv;
                    cs.enforce(|| format!("row {row}"), |_| a, |_| b, |l| l + variable + (rest, CS::one()));
                    known.push(Known { variable, value });
                }
                Style::AllOne => {
                    let (i, j) = (pick(0, known.len(), 1, false)[0].0, pick(0, known.len(), 1, false)[0].0);
                    let (x, y) = (known[i].variable, known[j].variable);
                    let value = Scalar::ONE + spoil;
                    let variable = cs.alloc(|| format!("one {row}"), || Ok(value))?;
                    cs.enforce(|| format!("row {row}"), |l| l + x, |l| l + y, |l| l + variable);
                    known.push(Known { variable, value });
                }
            }
        }
        Ok(())
    }
}

/// The circuit, compiled; once for all of the same structure.
pub fn compiled(circuit: &SmallCircuit) -> Arc<CompiledCircuit> {
    static MADE: Mutex<BTreeMap<String, Arc<CompiledCircuit>>> = Mutex::new(BTreeMap::new());
    let SmallCircuit { style, inputs, rows, structure, .. } = circuit;
    let key = format!("{style:?} {inputs} {rows} {structure}");
    if let Some(made) = MADE.lock().unwrap().get(&key) {
        return made.clone();
    }
    let recorded = Recorded::record(circuit.clone(), Identity::default(), 0, Control::NONE).unwrap();
    let made = Arc::new(recorded.ready().unwrap());
    MADE.lock().unwrap().insert(key, made.clone());
    made
}

/// The circuit's values as a partition.
pub fn assigned(circuit: &SmallCircuit) -> Partition {
    assign(circuit.clone(), &compiled(circuit), Room::default(), &AtomicBool::new(false)).unwrap()
}

/// bellperson's parameters as ours.
pub fn ours(theirs: &Parameters<Bls12>) -> Params {
    Params {
        vk: theirs.vk.clone(),
        h: Buf::copy_of("h", &theirs.h).unwrap(),
        l: Buf::copy_of("l", &theirs.l).unwrap(),
        a: Buf::copy_of("a", &theirs.a).unwrap(),
        b_g1: Buf::copy_of("b_g1", &theirs.b_g1).unwrap(),
        b_g2: Buf::copy_of("b_g2", &theirs.b_g2).unwrap(),
        path: Default::default(),
    }
}

/// A circuit of every style and several sizes, `count` in all.
pub fn assortment(count: usize) -> Vec<SmallCircuit> {
    let styles = [Style::Dense, Style::Sparse, Style::AllZero, Style::AllOne];
    let inputs = [1, 1, 2, 5, 40, 0];
    let rows = [1, 2, 3, 7, 16, 30, 61, 100, 250, 400];
    (0..count)
        .map(|i| {
            SmallCircuit::new(styles[i % 4], inputs[i / 4 % inputs.len()], rows[i / 3 % rows.len()], i as u64 * 77 + 1)
        })
        .collect()
}
