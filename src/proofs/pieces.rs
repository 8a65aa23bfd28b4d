//! Several vanilla proofs of one request, which lie back to back in its bytes.

use super::Request;
use crate::error::{Error, Result};

/// The field that names a request's vanilla proofs: `vanilla[2]` is the third.
pub(crate) const VANILLA: &str = "vanilla";

/// The vanilla proofs one by one. A request without lengths has one. `INVALID_ARGUMENT` names `vanilla_lens` unless the
/// lengths are together those of the bytes.
pub(crate) fn pieces<'a>(request: &'a Request, bytes: &'a [u8]) -> Result<impl ExactSizeIterator<Item = &'a [u8]>> {
    let lens = &request.vanilla_lens;
    let sum = lens.iter().try_fold(0u64, |sum, len| sum.checked_add(*len));
    if !lens.is_empty() && sum != Some(bytes.len() as u64) {
        let text = format!("together they are not the {} bytes of the vanilla proofs", bytes.len());
        return Err(Error::argument("vanilla_lens", text));
    }
    let mut rest = bytes;
    Ok((0..lens.len().max(1)).map(move |i| {
        // No length is more than is left: their sum is all there is.
        let len = lens.get(i).map_or(rest.len(), |len| *len as usize);
        let (piece, more) = rest.split_at(len);
        rest = more;
        piece
    }))
}

/// `INVALID_ARGUMENT` (`vanilla_count`) unless there are as many vanilla proofs as the registered proof takes.
pub(crate) fn expect_count(count: usize, expected: usize, what: &str) -> Result<()> {
    if count != expected {
        return Err(Error::argument("vanilla_count", format!("{count} vanilla proofs where {what} takes {expected}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::proofs::Kind;

    fn request(lens: &[u64]) -> Request {
        Request {
            kind: Kind::WindowPost,
            registered_proof: 10,
            partition_index: 0,
            miner_id: 0,
            sector_number: 0,
            randomness: [0; 32],
            comm_r_old: [0; 32],
            comm_r_new: [0; 32],
            comm_d_new: [0; 32],
            vanilla_lens: lens.to_vec(),
        }
    }

    #[test]
    fn pieces_are_all_of_the_bytes() {
        let all = |lens: &[u64]| -> Result<Vec<String>> {
            let request = request(lens);
            let pieces = pieces(&request, b"abcdef")?;
            Ok(pieces.map(|piece| String::from_utf8_lossy(piece).into_owned()).collect())
        };
        let of = |words: &[&str]| words.iter().map(|w| w.to_string()).collect::<Vec<_>>();
        assert_eq!(all(&[]).unwrap(), of(&["abcdef"]));
        assert_eq!(all(&[6]).unwrap(), of(&["abcdef"]));
        assert_eq!(all(&[1, 0, 3, 2]).unwrap(), of(&["a", "", "bcd", "ef"]));
        for lens in [&[5][..], &[7], &[3, 4], &[0], &[u64::MAX, 7], &[u64::MAX, u64::MAX]] {
            let e = all(lens).unwrap_err();
            assert_eq!((e.code, &*e.field), (Code::InvalidArgument, "vanilla_lens"), "{lens:?}");
        }
    }
}
