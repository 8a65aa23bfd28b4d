//! A circuit's matrices, recorded.
//!
//! A rank-1 constraint system is three sparse matrices A, B, C with a row per constraint and a column per variable; a
//! witness z satisfies it when (A·z)∘(B·z) = C·z. Filecoin's circuits depend on no value, so a blank circuit records once
//! what every proof of its kind and sector size uses. Few coefficients are distinct (2,466 in the largest circuit), so a
//! non-zero costs six bytes: a `u32` column and a `u16` place in the table of coefficients.

use std::sync::atomic::{AtomicBool, Ordering};

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use super::coefficients::Table;
use super::{too_large, Densities, Shape};
use crate::error::{Error, Result};
use crate::memory::Buf;

/// How many rows pass between two looks at the cancel flag.
const ROWS_A_LOOK: usize = 4096;

/// A variable in four bytes: an aux variable is its index, an input its index with the top bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column(pub u32);

impl Column {
    /// Set in inputs.
    const INPUT: u32 = 1 << 31;

    fn of(variable: Variable) -> Result<Self> {
        let (index, flag) = match variable.get_unchecked() {
            Index::Input(i) => (i, Self::INPUT),
            Index::Aux(i) => (i, 0),
        };
        match u32::try_from(index) {
            Ok(i) if i < Self::INPUT => Ok(Column(i | flag)),
            _ => Err(too_large("2^31 variables or more")),
        }
    }

    /// The variable.
    #[inline]
    pub fn index(self) -> Index {
        let i = (self.0 & !Self::INPUT) as usize;
        if self.is_input() {
            Index::Input(i)
        } else {
            Index::Aux(i)
        }
    }

    /// Whether it is an input.
    #[inline]
    pub fn is_input(self) -> bool {
        self.0 & Self::INPUT != 0
    }

    /// The place in a list of all variables, the `inputs` inputs first.
    #[inline]
    pub fn place(self, inputs: usize) -> usize {
        let i = (self.0 & !Self::INPUT) as usize;
        if self.is_input() {
            i
        } else {
            inputs + i
        }
    }
}

/// One sparse matrix, its rows one after the other. No coefficient is zero, and a row names a variable once at most.
#[derive(Debug, Default)]
pub struct SparseMatrix {
    /// Where each row's terms start, and one more: where the last row's end.
    starts: Buf<u32>,
    columns: Buf<u32>,
    coefficients: Buf<u16>,
}

impl SparseMatrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Number of terms.
    pub fn non_zeros(&self) -> usize {
        self.columns.len()
    }

    /// The terms of row `row`: column, and place in [`Matrices::coefficients`]. Inputs come before aux variables.
    ///
    /// # Panics
    /// `row` must be below [`rows`](Self::rows).
    #[inline]
    pub fn row(&self, row: usize) -> impl Iterator<Item = (Column, u16)> + '_ {
        let range = self.starts[row] as usize..self.starts[row + 1] as usize;
        self.columns[range.clone()].iter().map(|c| Column(*c)).zip(self.coefficients[range].iter().copied())
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.columns[..]) + size_of_val(&self.coefficients[..])
    }

    fn push(&mut self, column: Column, coefficient: u16) -> Result<()> {
        self.columns.push("matrices", column.0)?;
        self.coefficients.push("matrices", coefficient)
    }

    fn end_row(&mut self) -> Result<()> {
        let end = u32::try_from(self.columns.len()).map_err(|_| too_large("2^32 non-zeros or more in one matrix"))?;
        self.starts.push("matrices", end)
    }
}

/// A circuit as matrices.
#[derive(Debug, Default)]
pub struct Matrices {
    /// Rows (the row `input · 0 = 0` that Groth16 adds for each input included, at the end), inputs, aux variables.
    pub shape: Shape,
    /// A.
    pub a: SparseMatrix,
    /// B.
    pub b: SparseMatrix,
    /// C.
    pub c: SparseMatrix,
    /// The distinct coefficients, in the order of their first use; the first two are always 1 and -1.
    pub coefficients: Vec<Scalar>,
}

impl Matrices {
    /// Bytes of the three matrices.
    pub fn bytes(&self) -> usize {
        self.a.bytes() + self.b.bytes() + self.c.bytes()
    }

    /// The variables that A and B use.
    pub fn densities(&self) -> Densities {
        let mut densities = Densities::default();
        for _ in 0..self.shape.aux {
            densities.a_aux.push_zero();
            densities.b_aux.push_zero();
        }
        for _ in 0..self.shape.inputs {
            densities.b_inputs.push_zero();
        }
        for column in self.a.columns.iter().map(|c| Column(*c)) {
            if let Index::Aux(i) = column.index() {
                densities.a_aux.set(i);
            }
        }
        for column in self.b.columns.iter().map(|c| Column(*c)) {
            match column.index() {
                Index::Aux(i) => densities.b_aux.set(i),
                Index::Input(i) => densities.b_inputs.set(i),
            }
        }
        densities
    }
}

/// Records a circuit. No value is computed, so a blank circuit will do.
///
/// Errors: `OUT_OF_MEMORY`; `UNSUPPORTED` for a circuit of 2^31 variables, 2^32 non-zeros or 2^16 distinct coefficients;
/// `INTERNAL` when the circuit wants a value.
pub fn record<C: Circuit<Scalar>>(circuit: C) -> Result<Matrices> {
    record_until(circuit, &AtomicBool::new(false))
}

/// As [`record`], with `CANCELLED` soon after the flag is set.
pub fn record_until<C: Circuit<Scalar>>(circuit: C, cancelled: &AtomicBool) -> Result<Matrices> {
    let mut recorder = Recorder::start(cancelled)?;
    let outcome = circuit.synthesize(&mut recorder);
    if let Some(e) = recorder.stop {
        return Err(e);
    }
    outcome.map_err(|e| Error::internal(format!("the blank circuit cannot be recorded: {e}")))?;
    recorder.finish()
}

/// A constraint system that keeps the rows and forgets the values. Not extensible: pieces synthesised side by side have no
/// order, and matrices must have one.
struct Recorder<'a> {
    matrices: Matrices,
    table: Table,
    /// Why recording stopped early; [`SynthesisError`] has no room for it.
    stop: Option<Error>,
    cancelled: &'a AtomicBool,
}

impl<'a> Recorder<'a> {
    fn start(cancelled: &'a AtomicBool) -> Result<Self> {
        let mut matrices = Matrices::default();
        for m in [&mut matrices.a, &mut matrices.b, &mut matrices.c] {
            m.starts.push("matrices", 0)?;
        }
        matrices.shape.inputs = 1;
        Ok(Recorder { matrices, table: Table::new(), stop: None, cancelled })
    }

    fn row(&mut self, lcs: [LinearCombination<Scalar>; 3]) -> Result<()> {
        let Matrices { a, b, c, .. } = &mut self.matrices;
        for (matrix, lc) in [a, b, c].into_iter().zip(&lcs) {
            for (variable, coefficient) in lc.iter() {
                if !coefficient.is_zero_vartime() {
                    matrix.push(Column::of(variable)?, self.table.number(coefficient)?)?;
                }
            }
            matrix.end_row()?;
        }
        self.matrices.shape.constraints += 1;
        if self.matrices.shape.constraints.is_multiple_of(ROWS_A_LOOK) && self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::cancelled());
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Matrices> {
        for i in 0..self.matrices.shape.inputs {
            let input = Variable::new_unchecked(Index::Input(i));
            self.row([LinearCombination::from_variable(input), LinearCombination::zero(), LinearCombination::zero()])?;
        }
        self.matrices.coefficients = self.table.into_coefficients();
        Ok(self.matrices)
    }

    fn allocated(&self, index: Index) -> Result<Variable, SynthesisError> {
        match self.stop {
            None => Ok(Variable::new_unchecked(index)),
            Some(_) => Err(SynthesisError::Unsatisfiable),
        }
    }
}

impl ConstraintSystem<Scalar> for Recorder<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.matrices.shape.aux += 1;
        self.allocated(Index::Aux(self.matrices.shape.aux - 1))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.matrices.shape.inputs += 1;
        self.allocated(Index::Input(self.matrices.shape.inputs - 1))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        if self.stop.is_some() {
            return;
        }
        let zero = LinearCombination::zero;
        if let Err(e) = self.row([a(zero()), b(zero()), c(zero())]) {
            self.stop = Some(e);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::{styles, RandomCircuit, Style, Values};
    use crate::error::Code;
    use crate::memory::Room;
    use crate::witness::synthesize;

    fn value(
        matrices: &Matrices,
        row: impl Iterator<Item = (Column, u16)>,
        inputs: &[Scalar],
        aux: &[Scalar],
    ) -> Scalar {
        row.map(|(column, k)| {
            let value = match column.index() {
                Index::Input(i) => inputs[i],
                Index::Aux(i) => aux[i],
            };
            value * matrices.coefficients[usize::from(k)]
        })
        .sum()
    }

    #[test]
    fn matrices_agree_with_synthesis() {
        for (seed, style) in styles().into_iter().enumerate() {
            let circuit = RandomCircuit::new(seed as u64, style);
            let matrices = record(circuit.blank()).unwrap();
            let partition = synthesize(circuit, &matrices.shape, Room::default(), &AtomicBool::new(false)).unwrap();
            assert_eq!(matrices.shape, partition.shape(), "{style:?}");
            assert_eq!(matrices.densities(), partition.densities, "{style:?}");
            let (inputs, aux) = (&partition.witness.inputs, &partition.witness.aux);
            for row in 0..matrices.shape.constraints {
                let a = value(&matrices, matrices.a.row(row), inputs, aux);
                let b = value(&matrices, matrices.b.row(row), inputs, aux);
                let c = value(&matrices, matrices.c.row(row), inputs, aux);
                assert_eq!((a, b), (partition.evaluations.a[row], partition.evaluations.b[row]), "row {row}");
                assert_eq!(a * b, c, "row {row}");
            }
            let used = [&matrices.a, &matrices.b, &matrices.c];
            assert!(used.iter().all(|m| m.rows() == matrices.shape.constraints));
            assert!(used
                .iter()
                .flat_map(|m| m.coefficients.iter())
                .all(|k| usize::from(*k) < matrices.coefficients.len()));
            assert!(!matrices.coefficients.contains(&Scalar::ZERO));
        }
    }

    #[test]
    fn stops_when_cancelled() {
        let style = Style { inputs: 1, rows: 2 * ROWS_A_LOOK, terms: 1, values: Values::Ones };
        let error = record_until(RandomCircuit::new(1, style), &AtomicBool::new(true)).unwrap_err();
        assert_eq!(error.code, Code::Cancelled);
    }

    #[test]
    fn too_many_coefficients_are_an_error() {
        struct Many;
        impl Circuit<Scalar> for Many {
            fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
                let x = cs.alloc(|| "x", || Err(SynthesisError::AssignmentMissing))?;
                for k in 2..70_000u64 {
                    cs.enforce(|| "", |lc| lc + (Scalar::from(k), x), |lc| lc + CS::one(), |lc| lc);
                }
                Ok(())
            }
        }
        let error = record(Many).unwrap_err();
        assert_eq!((error.code, error.field.as_ref()), (Code::Unsupported, "circuit"));
    }

    #[test]
    fn columns_name_their_variables() {
        for (index, place) in [(Index::Input(0), 0), (Index::Input(4), 4), (Index::Aux(0), 5), (Index::Aux(9), 14)] {
            let column = Column::of(Variable::new_unchecked(index)).unwrap();
            assert_eq!((column.index(), column.place(5)), (index, place));
        }
        let huge = Variable::new_unchecked(Index::Aux(1 << 31));
        assert_eq!(Column::of(huge).unwrap_err().code, Code::Unsupported);
    }
}
