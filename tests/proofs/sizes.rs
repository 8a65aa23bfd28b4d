//! The table of parameter files' sizes against the blank circuits.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use splitprove::params::expected_layout;
use splitprove::proofs::kind::SECTOR_SIZES;
use splitprove::proofs::{CircuitId, CircuitVisitor, Kind};

/// Counts rows, and marks which variables A and B have.
#[derive(Default)]
struct Counts {
    rows: usize,
    inputs_in_b: Vec<bool>,
    aux_in_a: Vec<bool>,
    aux_in_b: Vec<bool>,
}

impl Counts {
    /// As [`expected_layout`] has them: points in `ic`, `h`, `l`, `a`, `b_g1`.
    fn points(&self) -> [u64; 5] {
        let marked = |bits: &[bool]| bits.iter().filter(|b| **b).count();
        let (inputs, aux) = (self.inputs_in_b.len(), self.aux_in_a.len());
        // Every input has a row of its own, so that A has it.
        let h = (self.rows + inputs).next_power_of_two() - 1;
        let b = marked(&self.inputs_in_b) + marked(&self.aux_in_b);
        [inputs, h, aux, inputs + marked(&self.aux_in_a), b].map(|n| n as u64)
    }
}

impl ConstraintSystem<Scalar> for Counts {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux_in_a.push(false);
        self.aux_in_b.push(false);
        Ok(Variable::new_unchecked(Index::Aux(self.aux_in_a.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs_in_b.push(false);
        Ok(Variable::new_unchecked(Index::Input(self.inputs_in_b.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        self.rows += 1;
        let there = |c: &Scalar| !bool::from(c.is_zero());
        for (variable, _) in a(LinearCombination::zero()).iter().filter(|(_, c)| there(c)) {
            if let Index::Aux(i) = variable.get_unchecked() {
                self.aux_in_a[i] = true;
            }
        }
        for (variable, _) in b(LinearCombination::zero()).iter().filter(|(_, c)| there(c)) {
            match variable.get_unchecked() {
                Index::Input(i) => self.inputs_in_b[i] = true,
                Index::Aux(i) => self.aux_in_b[i] = true,
            }
        }
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}

struct Points;

impl CircuitVisitor for Points {
    type Output = [u64; 5];
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        let mut counts = Counts { inputs_in_b: vec![false], ..Counts::default() };
        circuit.synthesize(&mut counts).unwrap();
        counts.points()
    }
}

/// Counts these circuits and compares them with the table, all before any is found wrong.
fn same(circuits: impl Iterator<Item = (Kind, u64)>) {
    let (mut table, mut counted) = (Vec::new(), Vec::new());
    for (kind, sector_size) in circuits {
        let circuit = CircuitId { kind, sector_size };
        let points = circuit.with_blank_circuit(Points).unwrap();
        println!("{circuit}: {points:?}");
        counted.push((circuit, points, points[4]));
        let [ic, h, l, a, b_g1, b_g2] = expected_layout(&circuit).unwrap().sections().map(|s| s.count);
        table.push((circuit, [ic, h, l, a, b_g1], b_g2));
    }
    assert_eq!(table, counted);
}

fn sizes(of: std::ops::Range<usize>) -> impl Iterator<Item = u64> {
    SECTOR_SIZES[of].iter().map(|(size, _)| *size)
}

#[test]
fn small_circuits_have_the_sizes_of_the_table() {
    same(sizes(0..5).map(|size| (Kind::WinningPost, size)));
    same(sizes(0..3).map(|size| (Kind::WindowPost, size)));
    same([Kind::Porep, Kind::Snap].into_iter().map(|kind| (kind, 2048)));
    let unknown = CircuitId { kind: Kind::Porep, sector_size: 4096 };
    assert_eq!(expected_layout(&unknown).unwrap_err().field, "circuit");
}

/// Minutes: 80 to 130 million rows each.
/// `cargo test --test proofs -- --ignored --nocapture every_circuit_has_the_sizes_of_the_table`
#[test]
#[ignore = "takes minutes"]
fn every_circuit_has_the_sizes_of_the_table() {
    same(Kind::ALL.into_iter().flat_map(|kind| sizes(0..5).map(move |size| (kind, size))));
}
