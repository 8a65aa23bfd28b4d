//! Pippenger's method over any adder: signed windows, buckets summed as runs of affine points.
//!
//! With digits d_w of a scalar s = sum over w of d_w 2^(c w), the sum is that of 2^(c w) S_w, S_w = sum of d_w P. One window is
//! done at a time: terms are dealt out to partitions of neighbouring buckets, a task sorts the terms of a partition
//! and sums its buckets, and the buckets' weighted sum is S_w.

use super::adder::{Adder, Pool, Term, MAX_TERMS};
use super::curve::{Coordinate, Curve};
use super::{scratch, Cancel, Stopped};
use blstrs::Scalar;
use group::Group;
use rayon::prelude::*;

/// Bits of the scalar field's order.
const SCALAR_BITS: u32 = 255;
/// The order's highest 64 bits, from bit 191 up.
const ORDER_TOP: u64 = ORDER[3] << 1 | ORDER[2] >> 63;
/// Bits of digits kept of each scalar at a time.
const SLICE_BITS: u32 = 128;
/// Points of one chunk of terms; their index takes 18 bits of a term while it is dealt out.
const CHUNK: usize = 1 << 18;
/// Most buckets of a partition; their index takes 13 bits of a term while it is dealt out, the sign one.
const MAX_PARTITION_BITS: u32 = 13;
/// Terms wanted in a partition: enough to make inversions cheap, few enough to stay in a core's cache.
const PARTITION_TERMS: usize = 1 << 14;
/// Most terms summed between two looks at the cancellation.
const TASK_TERMS: usize = 1 << 15;
/// Fewer points than this are multiplied one by one.
const FEW: usize = 8;
/// Points of one run of all windows: bounds the memory for digits and terms.
pub const MAX_POINTS: usize = 1 << 24;

const _: () = assert!(TASK_TERMS <= MAX_TERMS);

/// Windows of `bits` bits; the digits of all but the last are signed.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    pub bits: u32,
    pub count: u32,
}

impl Windows {
    pub fn of_bits(bits: u32) -> Windows {
        Windows { bits, count: SCALAR_BITS.div_ceil(bits) }
    }

    /// The windows that need the fewest additions for `n` points.
    fn for_points(n: usize) -> Windows {
        (3..=19)
            .map(Windows::of_bits)
            .min_by_key(|w| (0..w.count).map(|i| n + 2 * w.buckets(i)).sum::<usize>())
            .unwrap_or(Windows::of_bits(8))
    }

    /// Buckets 1, 2, ... of window i: the largest digit.
    pub fn buckets(&self, i: u32) -> usize {
        if i + 1 < self.count {
            1 << (self.bits - 1)
        } else {
            // Scalars are below the order; a carry may come in from the window below.
            (ORDER_TOP >> (self.bits * i - 191)) as usize + 1
        }
    }

    /// The sum of 2^(c - 1) 2^(c w) over the signed windows. A scalar plus this, cut into windows, gives digits that are
    /// 2^(c - 1) too large, and none depends on its neighbours.
    pub fn offset(&self) -> [u64; 4] {
        let mut out = [0u64; 4];
        for i in 0..self.count - 1 {
            let bit = self.bits * i + self.bits - 1;
            out[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        out
    }
}

impl Windows {
    /// The digits of a scalar, lowest window first.
    pub fn digits(&self, scalar: &Scalar) -> impl Iterator<Item = i64> {
        let words = add(canonical(scalar), self.offset());
        let Windows { bits, count } = *self;
        (0..count).map(move |i| {
            let value = cut(words, bits * i) as u64;
            if i + 1 < count {
                (value & ((1 << bits) - 1)) as i64 - (1 << (bits - 1))
            } else {
                value as i64
            }
        })
    }
}

/// The sum of scalars\[i\] * bases\[i\].
pub fn multiply_sum<C: Curve, A: Adder<C>>(
    adder: A,
    bases: &[C::Affine],
    scalars: &[Scalar],
    cancelled: Cancel<'_>,
) -> Result<C::Projective, Stopped> {
    let mut sum = C::Projective::identity();
    for (bases, scalars) in bases.chunks(MAX_POINTS).zip(scalars.chunks(MAX_POINTS)) {
        sum += if bases.len() < FEW {
            let mut sum = C::Projective::identity();
            for (base, scalar) in bases.iter().zip(scalars) {
                sum += C::Projective::from(*base) * scalar;
            }
            sum
        } else {
            let windows = Windows::for_points(bases.len());
            Sum::<C, A>::new(adder, bases, scalars, windows, cancelled).run()?
        };
    }
    Ok(sum)
}

struct Sum<'a, C: Curve, A: Adder<C>> {
    adder: A,
    bases: &'a [C::Affine],
    scalars: &'a [Scalar],
    windows: Windows,
    cancelled: Cancel<'a>,
    scratch: Pool<TaskScratch<A::Scratch>>,
    /// Points of a chunk of terms.
    chunk: usize,
}

/// Buffers of a task that sums a partition.
struct TaskScratch<S> {
    adder: S,
    terms: Vec<Term>,
    lengths: Vec<u32>,
    ends: Vec<u32>,
}

/// The terms of one window, dealt out to partitions.
struct Dealt<'a> {
    /// The chunks' terms, each sorted by partition: index in the chunk, bucket in the partition, sign.
    chunks: Vec<&'a [u32]>,
    /// Where each partition starts in its chunk, and the end.
    starts: &'a [Vec<u32>],
    partition_bits: u32,
    chunk: usize,
}

impl<'a, C: Curve, A: Adder<C>> Sum<'a, C, A> {
    fn new(adder: A, bases: &'a [C::Affine], scalars: &'a [Scalar], windows: Windows, cancelled: Cancel<'a>) -> Self {
        let threads = rayon::current_num_threads();
        let chunk = bases.len().div_ceil(2 * threads).clamp(1, CHUNK);
        Sum { adder, bases, scalars, windows, cancelled, scratch: Pool::new(), chunk }
    }

    fn run(&self) -> Result<C::Projective, Stopped> {
        let n = self.bases.len();
        let per_slice = SLICE_BITS / self.windows.bits;
        let mut slices = scratch::<u128>(n)?;
        let mut terms = scratch::<u32>(n)?;
        let chunks = n.div_ceil(self.chunk);
        let mut starts = vec![Vec::new(); chunks];
        let mut sums = Vec::new();
        for i in 0..self.windows.count {
            if i % per_slice == 0 {
                self.slice_digits(self.windows.bits * i, &mut slices)?;
            }
            sums.push(self.window(i, i % per_slice, &slices, &mut terms, &mut starts)?);
        }
        let mut total = C::Projective::identity();
        for sum in sums.iter().rev() {
            for _ in 0..self.windows.bits {
                total = total.double();
            }
            total += sum;
        }
        Ok(total)
    }

    /// Cuts `SLICE_BITS` bits from bit `from` up out of each scalar plus the offset. An identity base counts as a zero
    /// scalar.
    fn slice_digits(&self, from: u32, slices: &mut [u128]) -> Result<(), Stopped> {
        let offset = self.windows.offset();
        const PIECE: usize = 1 << 14;
        slices.par_chunks_mut(PIECE).enumerate().try_for_each(|(piece, slices)| {
            self.check()?;
            let start = piece * PIECE;
            let scalars = &self.scalars[start..start + slices.len()];
            let bases = &C::coordinates(self.bases)[start..start + slices.len()];
            for ((slice, scalar), base) in slices.iter_mut().zip(scalars).zip(bases) {
                let mut words = [0u64; 4];
                if base.y != C::Field::ZERO {
                    words = canonical(scalar);
                }
                *slice = cut(add(words, offset), from);
            }
            Ok(())
        })
    }

    fn check(&self) -> Result<(), Stopped> {
        if (self.cancelled)() {
            Err(Stopped::Cancelled)
        } else {
            Ok(())
        }
    }

    /// S_w of window w, the `place`-th of the digits in `slices`.
    fn window(
        &self,
        w: u32,
        place: u32,
        slices: &[u128],
        terms: &mut [u32],
        starts: &mut [Vec<u32>],
    ) -> Result<C::Projective, Stopped> {
        let count = self.windows.buckets(w);
        let bucket_bits = usize::BITS - (count - 1).leading_zeros();
        let wanted = (self.bases.len() / PARTITION_TERMS).max(rayon::current_num_threads());
        let partition_bits = bucket_bits.saturating_sub(wanted.ilog2()).min(MAX_PARTITION_BITS);
        let partitions = count.div_ceil(1 << partition_bits);
        let last = w + 1 == self.windows.count;
        let deal = Deal {
            shift: self.windows.bits * place,
            mask: if last { u64::MAX } else { (1 << self.windows.bits) - 1 },
            centre: if last { 0 } else { 1 << (self.windows.bits - 1) },
            partition_bits,
        };
        terms.par_chunks_mut(self.chunk).zip(slices.par_chunks(self.chunk)).zip(starts.par_iter_mut()).try_for_each(
            |((terms, slices), starts)| {
                self.check()?;
                deal.deal(slices, partitions, terms, starts);
                Ok(())
            },
        )?;
        let dealt = Dealt { chunks: terms.chunks(self.chunk).collect(), starts, partition_bits, chunk: self.chunk };
        let mut buckets = vec![A::IDENTITY; count];
        buckets
            .par_chunks_mut(1 << partition_bits)
            .enumerate()
            .try_for_each(|(p, buckets)| self.sum_partition(&dealt, p, buckets))?;
        self.weighted_sum(&buckets)
    }

    /// The sums of the buckets of partition p.
    fn sum_partition(&self, dealt: &Dealt<'_>, p: usize, buckets: &mut [A::Point]) -> Result<(), Stopped> {
        let total = dealt.len(p);
        if total <= TASK_TERMS {
            return self.sum_part(dealt, p, 0, total, buckets);
        }
        // Many equal digits: parts of the terms first, then the sums of the parts.
        let parts: Vec<Vec<A::Point>> = (0..total.div_ceil(TASK_TERMS))
            .into_par_iter()
            .map(|part| {
                let start = part * TASK_TERMS;
                let mut sums = vec![A::IDENTITY; buckets.len()];
                self.sum_part(dealt, p, start, total.min(start + TASK_TERMS), &mut sums)?;
                Ok(sums)
            })
            .collect::<Result<_, _>>()?;
        let width = buckets.len();
        let points: Vec<A::Point> = parts.into_iter().flatten().collect();
        let runs = (0..width).map(|b| (b..points.len()).step_by(width));
        self.sum_points(&points, runs, buckets)
    }

    /// The sums of the buckets of partition p over its terms `start..end`.
    fn sum_part(
        &self,
        dealt: &Dealt<'_>,
        p: usize,
        start: usize,
        end: usize,
        out: &mut [A::Point],
    ) -> Result<(), Stopped> {
        self.check()?;
        self.with_scratch(|scratch| {
            let TaskScratch { adder, terms, lengths, ends } = scratch;
            dealt.sort(p, start, end, out.len(), terms, lengths, ends);
            self.adder.sum_bases(adder, self.bases, terms, lengths, out);
        });
        Ok(())
    }

    fn with_scratch<R>(&self, work: impl FnOnce(&mut TaskScratch<A::Scratch>) -> R) -> R {
        let new =
            || TaskScratch { adder: self.adder.scratch(), terms: Vec::new(), lengths: Vec::new(), ends: Vec::new() };
        self.scratch.with(new, work)
    }

    /// out\[r\] = sum of the points of run r, identities among them allowed.
    fn sum_points<R: Iterator<Item = usize>>(
        &self,
        points: &[A::Point],
        runs: impl Iterator<Item = R>,
        out: &mut [A::Point],
    ) -> Result<(), Stopped> {
        self.with_scratch(|scratch| {
            let TaskScratch { adder, terms, lengths, .. } = scratch;
            terms.clear();
            lengths.clear();
            let mut done = 0;
            for run in runs {
                let before = terms.len();
                let live = run.filter(|&i| !A::is_identity(&points[i]));
                terms.extend(live.map(|i| (i as Term) << 1));
                lengths.push((terms.len() - before) as u32);
                // Runs are far shorter than the room left here.
                if terms.len() >= MAX_TERMS / 2 {
                    self.check()?;
                    let out = &mut out[done..done + lengths.len()];
                    self.adder.sum_points(adder, points, terms, lengths, out);
                    done += lengths.len();
                    terms.clear();
                    lengths.clear();
                }
            }
            self.adder.sum_points(adder, points, terms, lengths, &mut out[done..]);
            Ok(())
        })
    }

    /// The sum of (i + 1) buckets\[i\]. With i = 2^h row + column it is 2^h times the sum of row * (sum of the row), plus
    /// the sum of (column + 1) * (sum of the column): additions that are independent again.
    fn weighted_sum(&self, buckets: &[A::Point]) -> Result<C::Projective, Stopped> {
        let h = buckets.len().ilog2().div_ceil(2);
        let width = 1usize << h;
        let height = buckets.len().div_ceil(width);
        let mut rows = vec![A::IDENTITY; height];
        let mut columns = vec![A::IDENTITY; width];
        let lines = (width.max(height)).div_ceil(2 * rayon::current_num_threads()).clamp(1, 64);
        let (row_result, column_result) = rayon::join(
            || {
                rows.par_chunks_mut(lines).enumerate().try_for_each(|(part, out)| {
                    let runs = (part * lines..part * lines + out.len())
                        .map(|r| r * width..((r + 1) * width).min(buckets.len()));
                    self.sum_points(buckets, runs, out)
                })
            },
            || {
                columns.par_chunks_mut(lines).enumerate().try_for_each(|(part, out)| {
                    let runs = (part * lines..part * lines + out.len()).map(|c| (c..buckets.len()).step_by(width));
                    self.sum_points(buckets, runs, out)
                })
            },
        );
        row_result?;
        column_result?;
        let mut total = self.running_sum(&rows[1..]);
        for _ in 0..h {
            total = total.double();
        }
        Ok(total + self.running_sum(&columns))
    }

    /// The sum of (i + 1) points\[i\], one point after the other.
    fn running_sum(&self, points: &[A::Point]) -> C::Projective {
        let mut affine = Vec::with_capacity(points.len());
        self.adder.export(points, &mut |_, point| affine.push(C::affine(point)));
        let mut running = C::Projective::identity();
        let mut total = C::Projective::identity();
        for point in affine.iter().rev() {
            running += point;
            total += &running;
        }
        total
    }
}

/// How digits of a window become terms.
struct Deal {
    shift: u32,
    mask: u64,
    /// What the offset added to each digit.
    centre: i64,
    partition_bits: u32,
}

impl Deal {
    /// Deals the non-zero digits of one chunk out to partitions; `starts` gets their first terms and the end.
    fn deal(&self, slices: &[u128], partitions: usize, terms: &mut [u32], starts: &mut Vec<u32>) {
        starts.clear();
        starts.resize(partitions + 1, 0);
        for slice in slices {
            let digit = self.digit(slice);
            if digit != 0 {
                starts[((digit.unsigned_abs() - 1) >> self.partition_bits) as usize + 1] += 1;
            }
        }
        for p in 0..partitions {
            starts[p + 1] += starts[p];
        }
        let in_partition = (1u64 << self.partition_bits) - 1;
        for (i, slice) in slices.iter().enumerate() {
            let digit = self.digit(slice);
            if digit != 0 {
                let bucket = digit.unsigned_abs() - 1;
                let at = &mut starts[(bucket >> self.partition_bits) as usize];
                let low = (bucket & in_partition) as u32;
                let sign = (digit < 0) as u32;
                terms[*at as usize] = (i as u32) << (self.partition_bits + 1) | low << 1 | sign;
                *at += 1;
            }
        }
        // Every start has moved to the next one.
        starts.rotate_right(1);
        starts[0] = 0;
    }

    #[inline]
    fn digit(&self, slice: &u128) -> i64 {
        ((slice >> self.shift) as u64 & self.mask) as i64 - self.centre
    }
}

impl Dealt<'_> {
    /// Terms of partition p.
    fn len(&self, p: usize) -> usize {
        self.starts.iter().map(|s| (s[p + 1] - s[p]) as usize).sum()
    }

    /// Sorts the terms `start..end` of partition p by bucket: `terms` for the adder, run lengths in `lengths`.
    #[allow(clippy::too_many_arguments)]
    fn sort(
        &self,
        p: usize,
        start: usize,
        end: usize,
        buckets: usize,
        terms: &mut Vec<Term>,
        lengths: &mut Vec<u32>,
        ends: &mut Vec<u32>,
    ) {
        let mut pieces = Vec::with_capacity(self.chunks.len());
        let mut at = 0;
        for (c, (chunk, starts)) in self.chunks.iter().zip(self.starts).enumerate() {
            let piece = &chunk[starts[p] as usize..starts[p + 1] as usize];
            let low = start.saturating_sub(at).min(piece.len());
            let high = end.saturating_sub(at).min(piece.len());
            pieces.push(((c * self.chunk) as u32, &piece[low..high]));
            at += piece.len();
        }
        let bucket_mask = (1u32 << self.partition_bits) - 1;
        lengths.clear();
        lengths.resize(buckets, 0);
        for term in pieces.iter().flat_map(|(_, piece)| *piece) {
            lengths[(term >> 1 & bucket_mask) as usize] += 1;
        }
        ends.clear();
        let mut total = 0;
        for &length in lengths.iter() {
            ends.push(total);
            total += length;
        }
        terms.clear();
        terms.resize(total as usize, 0);
        for (first, piece) in pieces {
            for term in piece {
                let end = &mut ends[(term >> 1 & bucket_mask) as usize];
                let index = first + (term >> (self.partition_bits + 1));
                terms[*end as usize] = index << 1 | term & 1;
                *end += 1;
            }
        }
    }
}

/// The scalar field's order r, words, low first.
const ORDER: [u64; 4] = [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// -1 / r mod 2^64.
const ORDER_NEGATED_INVERSE: u64 = 0xffff_fffe_ffff_ffff;

/// The scalar's value as four words, low first: one Montgomery reduction of blst's form. A form below r reduces to a
/// value of at most (r + (2^256 - 1) r) / 2^256 = r, and to r never, as a form of zero is zero.
fn canonical(scalar: &Scalar) -> [u64; 4] {
    let mut t = blst::blst_fr::from(*scalar).l;
    for _ in 0..4 {
        let m = t[0].wrapping_mul(ORDER_NEGATED_INVERSE) as u128;
        let mut carry = (m * ORDER[0] as u128 + t[0] as u128) >> 64;
        for i in 1..4 {
            carry += m * ORDER[i] as u128 + t[i] as u128;
            t[i - 1] = carry as u64;
            carry >>= 64;
        }
        t[3] = carry as u64;
    }
    t
}

fn add(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut carry = 0;
    std::array::from_fn(|i| {
        let sum = a[i] as u128 + b[i] as u128 + carry;
        carry = sum >> 64;
        sum as u64
    })
}

/// `SLICE_BITS` bits from bit `from` up.
fn cut(words: [u64; 4], from: u32) -> u128 {
    let low = words[0] as u128 | (words[1] as u128) << 64;
    let high = words[2] as u128 | (words[3] as u128) << 64;
    match from {
        0 => low,
        1..128 => low >> from | high << (128 - from),
        _ => high >> (from - 128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use rand::SeedableRng;

    #[test]
    fn canonical_words_are_the_bytes() {
        let mut rng = rand_xorshift::XorShiftRng::from_seed([9; 16]);
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(u64::MAX)];
        scalars.extend((0..1000).map(|_| Scalar::random(&mut rng)));
        for scalar in scalars {
            let bytes: Vec<u8> = canonical(&scalar).iter().flat_map(|w| w.to_le_bytes()).collect();
            assert_eq!(bytes, scalar.to_bytes_le());
        }
    }

    #[test]
    fn digits_fit_their_windows_and_sum_to_the_scalar() {
        let mut rng = rand_xorshift::XorShiftRng::from_seed([8; 16]);
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE];
        scalars.extend((0..255).map(|i| Scalar::from(2u64).pow_vartime([i])));
        scalars.extend((0..255).map(|i| Scalar::from(2u64).pow_vartime([i]) - Scalar::ONE));
        scalars.extend((0..200).map(|_| Scalar::random(&mut rng)));
        for windows in (3..=19).map(Windows::of_bits) {
            for scalar in &scalars {
                let mut sum = Scalar::ZERO;
                let mut power = Scalar::ONE;
                for (i, digit) in windows.digits(scalar).enumerate() {
                    let size = digit.unsigned_abs();
                    assert!(size as usize <= windows.buckets(i as u32), "{windows:?} {scalar}");
                    let term = power * Scalar::from(size);
                    sum += if digit < 0 { -term } else { term };
                    power *= Scalar::from(1 << windows.bits);
                }
                assert_eq!(sum, *scalar, "{windows:?}");
            }
        }
    }
}
