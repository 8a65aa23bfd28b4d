//! Random circuits for tests, satisfied by construction.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

/// A small generator of numbers (SplitMix64): the same seed gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// The sequence with this seed.
    pub fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound as u64) as usize
    }

    /// A field element.
    pub fn scalar(&mut self) -> Scalar {
        let shift = Scalar::from(u64::MAX) + Scalar::ONE;
        (0..4).fold(Scalar::ZERO, |sum, _| sum * shift + Scalar::from(self.next_u64()))
    }
}

/// What a random circuit's witness looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Wide field elements.
    Wide,
    /// Half 0, half 1, few wide: as in PoRep.
    Bits,
    /// Every aux variable and every input but the constant one is 0.
    Zeros,
    /// Every variable is 1.
    Ones,
}

/// What a random circuit looks like.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Public inputs besides the constant one.
    pub inputs: usize,
    /// Rows, those of the inputs that Groth16 adds not included.
    pub rows: usize,
    /// Most terms in a linear combination.
    pub terms: usize,
    /// The witness.
    pub values: Values,
}

#[derive(Clone, Debug)]
enum Step {
    Input(Scalar),
    Aux(Scalar),
    Row([Vec<(Scalar, Index)>; 3]),
}

/// A random circuit with its witness.
#[derive(Clone, Debug)]
pub struct RandomCircuit {
    steps: Vec<Step>,
    /// The public inputs, without the constant one.
    pub public: Vec<Scalar>,
    blank: bool,
}

impl RandomCircuit {
    /// The circuit with this seed and style. Every aux variable stands in a row.
    pub fn new(seed: u64, style: Style) -> Self {
        let mut maker =
            Maker { numbers: Numbers::new(seed), style, steps: Vec::new(), inputs: vec![Scalar::ONE], aux: Vec::new() };
        maker.make();
        RandomCircuit { steps: maker.steps, public: maker.inputs.split_off(1), blank: false }
    }

    /// The same circuit without its values.
    pub fn blank(&self) -> Self {
        RandomCircuit { blank: true, ..self.clone() }
    }

    /// The circuit with the value of aux variable `index` one higher, which most rows will not bear.
    pub fn with_wrong_aux(&self, index: usize) -> Self {
        let mut wrong = self.clone();
        let mut aux = wrong.steps.iter_mut().filter_map(|s| if let Step::Aux(value) = s { Some(value) } else { None });
        if let Some(value) = aux.nth(index) {
            *value += Scalar::ONE;
        }
        wrong
    }

    /// Aux variables.
    pub fn aux(&self) -> usize {
        self.steps.iter().filter(|s| matches!(s, Step::Aux(_))).count()
    }
}

struct Maker {
    numbers: Numbers,
    style: Style,
    steps: Vec<Step>,
    inputs: Vec<Scalar>,
    aux: Vec<Scalar>,
}

impl Maker {
    fn make(&mut self) {
        // At least one input first, the others strewn in, as circuits do.
        let mut to_come = self.style.inputs;
        for row in 0..self.style.rows {
            while to_come > 0
                && (row == 0 || self.numbers.below(self.style.rows / to_come.min(self.style.rows) + 1) == 0)
            {
                let value = self.value();
                self.inputs.push(value);
                self.steps.push(Step::Input(value));
                to_come -= 1;
                if row == 0 {
                    break;
                }
            }
            if self.aux.is_empty() || self.numbers.below(4) == 0 {
                self.free_row();
            } else {
                self.product_row();
            }
        }
        for _ in 0..to_come {
            let value = self.value();
            self.inputs.push(value);
            self.steps.push(Step::Input(value));
        }
    }

    fn value(&mut self) -> Scalar {
        match self.style.values {
            Values::Zeros => Scalar::ZERO,
            Values::Ones => Scalar::ONE,
            Values::Wide => self.numbers.scalar(),
            Values::Bits => match self.numbers.below(40) {
                0 => self.numbers.scalar(),
                n => Scalar::from(n as u64 % 2),
            },
        }
    }

    fn allocate(&mut self, value: Scalar) -> Index {
        self.aux.push(value);
        self.steps.push(Step::Aux(value));
        Index::Aux(self.aux.len() - 1)
    }

    /// x · 1 = x with a new x of any value.
    fn free_row(&mut self) {
        let value = self.value();
        let x = self.allocate(value);
        let one = Index::Input(0);
        self.steps.push(Step::Row([vec![(Scalar::ONE, x)], vec![(Scalar::ONE, one)], vec![(Scalar::ONE, x)]]));
    }

    /// a · b = k·x + rest with a new x that makes it hold.
    fn product_row(&mut self) {
        let (a, b, rest) = (self.combination(1), self.combination(1), self.combination(0));
        let value = |lc: &[(Scalar, Index)]| lc.iter().map(|(k, i)| *k * self.value_of(*i)).sum::<Scalar>();
        let wanted = value(&a) * value(&b) - value(&rest);
        let k = self.coefficient();
        // Coefficients are never 0 except where a term is made to vanish on purpose.
        let x_value = wanted * Option::<Scalar>::from(k.invert()).unwrap_or(Scalar::ONE);
        let x = self.allocate(x_value);
        let mut c = rest;
        c.push((k, x));
        self.steps.push(Step::Row([a, b, c]));
    }

    fn value_of(&self, index: Index) -> Scalar {
        match index {
            Index::Input(i) => self.inputs[i],
            Index::Aux(i) => self.aux[i],
        }
    }

    /// A few terms over the variables there are, sometimes with a coefficient of 0 or a variable twice.
    fn combination(&mut self, at_least: usize) -> Vec<(Scalar, Index)> {
        if self.style.values == Values::Ones {
            // One variable with coefficient 1: products stay 1, and the rest of C stays empty.
            return (0..at_least).map(|_| (Scalar::ONE, self.variable())).collect();
        }
        let terms = at_least + self.numbers.below(self.style.terms - at_least + 1);
        let mut lc: Vec<_> = (0..terms).map(|_| (self.coefficient(), self.variable())).collect();
        if self.numbers.below(8) == 0 {
            let variable = self.variable();
            lc.push((Scalar::ZERO, variable));
            if let Some(&(k, i)) = lc.first() {
                // Cancels the first term: the variable stays in the combination with coefficient 0.
                lc.push((-k, i));
            }
        }
        lc
    }

    fn variable(&mut self) -> Index {
        // The constant one would make a witness of zeros impossible.
        let first_input = usize::from(self.style.values == Values::Zeros);
        let inputs = self.inputs.len() - first_input;
        match self.numbers.below(inputs + self.aux.len()) {
            i if i < inputs => Index::Input(first_input + i),
            i => Index::Aux(i - inputs),
        }
    }

    fn coefficient(&mut self) -> Scalar {
        match (self.style.values, self.numbers.below(8)) {
            (Values::Ones, _) | (_, 0..=3) => Scalar::ONE,
            (_, 4 | 5) => -Scalar::ONE,
            (_, 6) => Scalar::from(1 << self.numbers.below(60)),
            _ => self.numbers.scalar(),
        }
    }
}

impl Circuit<Scalar> for RandomCircuit {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let blank = self.blank;
        let give = |value: Scalar| move || if blank { Err(SynthesisError::AssignmentMissing) } else { Ok(value) };
        let (mut inputs, mut aux) = (vec![CS::one()], Vec::new());
        for (number, step) in self.steps.into_iter().enumerate() {
            match step {
                Step::Input(value) => inputs.push(cs.alloc_input(|| format!("input {number}"), give(value))?),
                Step::Aux(value) => aux.push(cs.alloc(|| format!("aux {number}"), give(value))?),
                Step::Row([a, b, c]) => {
                    let of = |terms: Vec<(Scalar, Index)>| {
                        let (inputs, aux): (&[Variable], &[Variable]) = (&inputs, &aux);
                        move |lc: LinearCombination<Scalar>| {
                            terms.into_iter().fold(lc, |lc, (k, i)| match i {
                                Index::Input(i) => lc + (k, inputs[i]),
                                Index::Aux(i) => lc + (k, aux[i]),
                            })
                        }
                    };
                    cs.enforce(|| format!("row {number}"), of(a), of(b), of(c));
                }
            }
        }
        Ok(())
    }
}

/// Styles that between them show everything a circuit may have: dense and sparse rows, wide, bit, zero and one
/// witnesses, no public input, one and many.
pub fn styles() -> Vec<Style> {
    let mut styles = Vec::new();
    for values in [Values::Wide, Values::Bits, Values::Zeros, Values::Ones] {
        for (inputs, rows, terms) in [(1, 3, 2), (0, 6, 3), (1, 30, 3), (7, 100, 12), (40, 61, 4), (3, 250, 60)] {
            styles.push(Style { inputs, rows, terms, values });
        }
    }
    styles
}
