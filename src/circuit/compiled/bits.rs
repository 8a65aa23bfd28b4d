//! Which variables can be nothing but 0 or 1 where every row holds.
//!
//! Almost all of a PoRep's variables are bits: of an `alloc`ated bit the row x·(1 − x) = 0 says so, of an exclusive or,
//! an "and" or a choice that its operands are bits. So how much memory a packed witness takes is known before it is made.
//!
//! A row tells of one of its variables when all others are known to be bits: for each of their values the row is an
//! equation in that one alone, and if no such equation has another solution than 0 and 1, it is a bit, too. Values that
//! the row before rules out do not count (a majority uses b∧c beside b and c).

use blstrs::Scalar;
use ff::Field;

use super::code::{Kind, Place, Symbol};
use super::intern::{push, refused, Map};
use super::record::{RawTemplates, RawTerm};
use crate::error::Result;

/// Variables besides the one in question that are looked at: 2^5 cases.
const MOST: usize = 5;

/// Coefficients beyond this are not looked at.
const LARGEST: i64 = 8;

/// When `others` are bits, so is `one`.
#[derive(Clone, Debug, PartialEq)]
struct Rule {
    one: Place,
    others: Vec<Place>,
}

/// Finds them while a circuit is recorded.
#[derive(Default)]
pub(super) struct BitFinder {
    /// A bit for each aux variable.
    known: Vec<u64>,
    count: usize,
    /// By the row's symbol and the template of the row before.
    rules: Map<(u32, u32), Vec<Rule>>,
    before: Option<u32>,
}

/// A linear combination with small coefficients: the constant, and one for each place.
type Small = Vec<(Option<Place>, i64)>;

impl BitFinder {
    /// How many variables are bits.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes the next row, its symbol being number `number`, when `aux` variables are allocated.
    #[inline]
    pub fn row(
        &mut self,
        symbol: &Symbol,
        number: u32,
        aux: u32,
        templates: &RawTemplates,
        coefficients: &[Scalar],
    ) -> Result<()> {
        let before = self.before.replace(symbol.template);
        let key = (number, before.unwrap_or(u32::MAX));
        let rules = match self.rules.get(&key) {
            Some(rules) => rules,
            None => {
                let rules = find_rules(symbol, before, templates, coefficients);
                self.rules.try_reserve(1).map_err(|_| refused())?;
                self.rules.entry(key).or_insert(rules)
            }
        };
        let variable = |place: &Place| match place.kind() {
            Kind::Back => aux - place.number(),
            _ => place.number(),
        };
        for Rule { one, others } in rules {
            let known = |i: u32| self.known.get(i as usize / 64).is_some_and(|word| word >> (i % 64) & 1 == 1);
            let one = variable(one);
            if known(one) || !others.iter().all(|other| known(variable(other))) {
                continue;
            }
            while self.known.len() <= one as usize / 64 {
                push(&mut self.known, 0)?;
            }
            self.known[one as usize / 64] |= 1 << (one % 64);
            self.count += 1;
            break;
        }
        Ok(())
    }
}

/// The rules that a row gives after the row `before`.
fn find_rules(symbol: &Symbol, before: Option<u32>, templates: &RawTemplates, coefficients: &[Scalar]) -> Vec<Rule> {
    let Some(row) = small_row(templates.get(symbol.template), 0, coefficients) else { return Vec::new() };
    let mut places: Vec<Place> = Vec::new();
    for (place, _) in row.iter().flatten() {
        if let Some(place) = place.filter(|p| !places.contains(p)) {
            places.push(place);
        }
    }
    if places.len() > MOST + 1 {
        return Vec::new();
    }
    let before = before.and_then(|template| small_row(templates.get(template), symbol.aux, coefficients));
    let rule = |one: &Place| {
        let others: Vec<Place> = places.iter().copied().filter(|p| p != one).collect();
        is_rule(*one, &others, &row, before.as_ref()).then_some(Rule { one: *one, others })
    };
    places.iter().filter_map(rule).collect()
}

/// Whether `one` can only be a bit where `others` are and the rows hold.
fn is_rule(one: Place, others: &[Place], row: &[Small; 3], before: Option<&[Small; 3]>) -> bool {
    let before = before.filter(|row| row.iter().flatten().all(|(place, _)| place.is_none_or(|p| others.contains(&p))));
    (0..1u32 << others.len()).all(|case| {
        let value = |place: &Place| others.iter().position(|p| p == place).map_or(0, |i| i64::from(case >> i & 1));
        // The constant part and the coefficient of the one in question.
        let line = |lc: &Small| {
            lc.iter().fold((0, 0), |(constant, slope), (place, k)| match place {
                None => (constant + k, slope),
                Some(place) if *place == one => (constant, slope + k),
                Some(place) => (constant + k * value(place), slope),
            })
        };
        if let Some(before) = before {
            let [a, b, c] = [0, 1, 2].map(|m| line(&before[m]).0);
            if a * b != c {
                return true;
            }
        }
        let [a, b, c] = [0, 1, 2].map(|m| line(&row[m]));
        only_bits(a.1 * b.1, a.0 * b.1 + a.1 * b.0 - c.1, a.0 * b.0 - c.0)
    })
}

/// Whether q·x² + p·x + n = 0 has no solution but 0 and 1. (The numbers are small, so that the field sees them as the
/// integers do.)
fn only_bits(q: i64, p: i64, n: i64) -> bool {
    let at_one = q + p + n;
    match (q, p) {
        (0, 0) => n != 0,
        (0, _) => n == 0 || at_one == 0,
        // One solution is 0, and the other, -p/q, is 0 or 1.
        _ if n == 0 => p == 0 || at_one == 0,
        // One solution is 1, and the other, n/q, is 1.
        _ => at_one == 0 && n == q,
    }
}

/// A row whose coefficients are small and whose only input is the constant one, with its places as they are seen `later`
/// aux variables later.
fn small_row(row: [&[RawTerm]; 3], later: u32, coefficients: &[Scalar]) -> Option<[Small; 3]> {
    let mut out: [Small; 3] = Default::default();
    if row.iter().map(|lc| lc.len()).sum::<usize>() > 4 * MOST {
        return None;
    }
    for (small, lc) in out.iter_mut().zip(row) {
        for term in lc {
            let k = small_integer(&coefficients[usize::from(term.coefficient)])?;
            let place = match term.place.kind() {
                _ if term.place == Place::ONE => None,
                Kind::Back => Some(Place(term.place.number().checked_add(later).filter(|n| *n < Place::LIMIT)?)),
                Kind::Aux => Some(term.place),
                Kind::Input | Kind::InputBack => return None,
            };
            small.push((place, k));
        }
    }
    Some(out)
}

fn small_integer(scalar: &Scalar) -> Option<i64> {
    let mut power = Scalar::ZERO;
    (1..=LARGEST).find_map(|k| {
        power += Scalar::ONE;
        match () {
            () if *scalar == power => Some(k),
            () if *scalar == -power => Some(-k),
            () => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use bellpepper_core::boolean::{AllocatedBit, Boolean};
    use bellpepper_core::num::AllocatedNum;
    use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};

    use super::*;
    use crate::circuit::compiled::record::record;
    use crate::telemetry::Control;

    #[test]
    fn solutions() {
        for (q, p, n, expected) in [
            (1, -1, 0, true),
            (-3, 3, 0, true),
            (1, 0, 0, true),
            (1, -2, 1, true),
            (0, 1, 0, true),
            (0, 2, -2, true),
            (0, 0, 1, true),
            (0, 0, 0, false),
            (0, 1, 1, false),
            (0, 2, -1, false),
            (1, 1, 0, false),
            (1, -3, 2, false),
            (1, 0, 1, false),
        ] {
            assert_eq!(only_bits(q, p, n), expected, "{q} {p} {n}");
        }
    }

    /// Wide variables among those of a circuit.
    fn wide<F>(f: F) -> usize
    where
        F: Fn(&mut dyn FnMut(Step)),
    {
        let mut steps = Vec::new();
        f(&mut |step| steps.push(step));
        record(Steps(steps), 0, Control::NONE).unwrap().wide
    }

    #[derive(Clone, Copy)]
    enum Step {
        Bit,
        Number,
        Xor,
        And,
        Nor,
        Choose,
        Majority,
        Product,
    }

    struct Steps(Vec<Step>);

    impl Circuit<Scalar> for Steps {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let mut bits: Vec<AllocatedBit> = Vec::new();
            for (i, step) in self.0.into_iter().enumerate() {
                let mut cs = cs.namespace(|| format!("{i}"));
                let none = || Err::<Scalar, _>(SynthesisError::AssignmentMissing);
                let last = |k: usize| Boolean::from(bits[bits.len() - k].clone());
                match step {
                    Step::Bit => bits.push(AllocatedBit::alloc(cs, None)?),
                    Step::Number => {
                        AllocatedNum::alloc(cs, none)?;
                    }
                    Step::Product => {
                        let x = AllocatedNum::alloc(cs.namespace(|| "x"), none)?;
                        x.square(cs)?;
                    }
                    Step::Xor => bits.push(AllocatedBit::xor(cs, &bits[0], &bits[1])?),
                    Step::And => bits.push(AllocatedBit::and(cs, &bits[0], &bits[1])?),
                    Step::Nor => bits.push(AllocatedBit::nor(cs, &bits[0], &bits[1])?),
                    Step::Choose => {
                        Boolean::sha256_ch(cs, &last(1), &last(2), &last(3).not())?;
                    }
                    Step::Majority => {
                        Boolean::sha256_maj(cs, &last(1), &last(2), &last(3))?;
                    }
                }
            }
            Ok(())
        }
    }

    #[test]
    fn bits_are_found() {
        use Step::*;
        assert_eq!(wide(|s| [Bit, Bit, Xor, And, Nor, Xor, Choose, Majority].into_iter().for_each(s)), 0);
        assert_eq!(wide(|s| [Number, Bit, Number].into_iter().for_each(s)), 2);
        assert_eq!(wide(|s| [Bit, Product, Bit, And].into_iter().for_each(s)), 2);
        assert_eq!(wide(|_| {}), 0);
    }
}
