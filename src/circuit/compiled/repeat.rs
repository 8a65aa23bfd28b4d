//! The sequence of chunks with its repetitions named: "the next `length` are those from `distance` back on".

use super::bytes::{Reader, Writer};
use super::intern::{push, room_for, Map};
use crate::error::Result;

/// Shorter repetitions are written out.
const SHORTEST: usize = 8;

/// Writes the sequence: a number of numbers written out, these, how far back the next are, how many, and so on.
pub(super) fn write(out: &mut Writer, sequence: &[u32]) -> Result<()> {
    let mut places: Map<[u32; SHORTEST], u32> = Map::default();
    let mut next_id = 0;
    let mut written = 0;
    let mut i = 0;
    while i <= sequence.len() {
        // The longest repetition that the last place with the same beginning gives.
        let found = window(sequence, i).and_then(|w| places.get(&w).copied()).map(|place| place as usize);
        let length =
            found.map_or(0, |place| sequence[place..].iter().zip(&sequence[i..]).take_while(|(a, b)| a == b).count());
        let here = if length > 0 { length } else { 1 };
        if length > 0 || i == sequence.len() {
            out.varint((i - written) as u64)?;
            for id in &sequence[written..i] {
                out.signed(i64::from(*id) - next_id)?;
                next_id = i64::from(*id) + 1;
            }
            if let Some(place) = found {
                out.varint((i - place) as u64)?;
                out.varint(length as u64)?;
            }
            written = i + length;
        }
        for j in i..i + here {
            if let Some(w) = window(sequence, j) {
                places.try_reserve(1).map_err(|_| super::intern::refused())?;
                places.insert(w, j as u32);
            }
        }
        i += here;
    }
    Ok(())
}

fn window(sequence: &[u32], i: usize) -> Option<[u32; SHORTEST]> {
    sequence.get(i..i + SHORTEST)?.try_into().ok()
}

/// Reads a sequence of `len` numbers.
pub(super) fn read(from: &mut Reader<'_>, len: usize) -> Result<Vec<u32>> {
    let mut sequence: Vec<u32> = room_for(len)?;
    let mut next_id = 0i64;
    loop {
        let count = from.count(len - sequence.len())?;
        for _ in 0..count {
            let id = from.signed()?.checked_add(next_id).and_then(|id| u32::try_from(id).ok());
            let id = id.ok_or_else(|| from.wrong("a chunk's number is out of range"))?;
            next_id = i64::from(id) + 1;
            push(&mut sequence, id)?;
        }
        if sequence.len() == len {
            return Ok(sequence);
        }
        let distance = from.count(sequence.len())?;
        let length = from.count(len - sequence.len())?;
        if distance == 0 || length == 0 {
            return Err(from.wrong("a repetition of nothing"));
        }
        let start = sequence.len() - distance;
        for i in start..start + length {
            let id = sequence[i];
            push(&mut sequence, id)?;
        }
        // A repetition may be the end; a count of none written out follows it.
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::Numbers;

    #[test]
    fn sequences_come_back() {
        let mut numbers = Numbers::new(4);
        let mut sequences: Vec<Vec<u32>> = vec![vec![], vec![0], vec![5; 1000], (0..100).collect()];
        for block in [3u32, 9, 40, 177] {
            sequences.push((0..5000).map(|i| i % block).collect());
            sequences.push((0..block * 50).map(|i| if numbers.below(60) == 0 { i } else { i % block }).collect());
        }
        for sequence in sequences {
            let mut out = Writer::default();
            write(&mut out, &sequence).unwrap();
            let bytes = out.into_bytes();
            let mut reader = Reader::new(&bytes, "circuit.sequence");
            assert_eq!(read(&mut reader, sequence.len()).unwrap(), sequence);
            reader.end().unwrap();
        }
    }

    #[test]
    fn repetition_is_short() {
        let block: Vec<u32> = (0..900).collect();
        let sequence: Vec<u32> = block.iter().cycle().take(900 * 500).copied().collect();
        let mut out = Writer::default();
        write(&mut out, &sequence).unwrap();
        assert!(out.into_bytes().len() < 1000);
    }
}
