//! Parameter files that read well and are wrong all the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use blstrs::{G1Affine, G1Projective, G2Affine};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};

use super::check::check_as;
use super::file_tests::{outside_subgroup_g1, outside_subgroup_g2, small_file};
use super::point::Point;
use super::provenance::{key_digest, Listed};
use super::random::Bits;
use super::subgroup::SubsetSums;
use super::*;
use crate::error::{Code, Error};
use crate::telemetry::Control;

/// Checks what `change` made of the bytes, as another file in the same folder.
fn checked(dir: &Path, bytes: &[u8], change: impl FnOnce(&mut [u8])) -> Result<Report, Error> {
    let path = dir.join("changed.params");
    let mut changed = bytes.to_vec();
    change(&mut changed);
    fs::write(&path, changed).unwrap();
    read(&path, Control::NONE).expect("reads well");
    check(&path, Control::NONE)
}

fn wrong(outcome: Result<Report, Error>, field: &str, part: &str) {
    let error = outcome.expect_err(part);
    assert_eq!((error.code, error.field.as_ref()), (Code::ParamsCorrupt, field), "{error}");
    assert!(error.message.contains(part), "{error}");
}

#[test]
fn good_parameters_pass() {
    let (dir, bytes, layout) = small_file();
    let path: PathBuf = dir.path().join("v28-test.params");
    let report = check(&path, Control::NONE).unwrap();
    assert_eq!((report.layout, report.key_file), (layout, true));
    let marker = fs::read_to_string(super::names::marker_of(&path)).unwrap();
    assert!(marker.contains(&report.key_digest));
    assert!(!checked(dir.path(), &bytes, |_| ()).unwrap().key_file);
    let stopped = Control { cancelled: &AtomicBool::new(true), ..Control::NONE };
    assert_eq!(check(&path, stopped).unwrap_err().code, Code::Cancelled);
}

#[test]
fn points_outside_the_subgroup_are_found() {
    let (dir, bytes, layout) = small_file();
    for section in [layout.h, layout.l, layout.a, layout.b_g1, layout.b_g2] {
        for index in [0, section.count / 2, section.count - 1] {
            let at = (section.offset + index * section.point_bytes) as usize;
            let outcome = checked(dir.path(), &bytes, |b| match section.point_bytes {
                96 => b[at..at + 96].copy_from_slice(&outside_subgroup_g1()),
                _ => b[at..at + 192].copy_from_slice(&outside_subgroup_g2()),
            });
            wrong(outcome, section.name, &format!("point {index} at byte {at} is outside the subgroup"));
        }
    }
}

#[test]
fn b_must_be_the_same_in_both_groups() {
    let (dir, bytes, layout) = small_file();
    let swap = |section: Section, i: u64, j: u64| {
        let size = section.point_bytes as usize;
        let at = |i| (section.offset + i * section.point_bytes) as usize;
        let (i, j) = (at(i), at(j));
        move |b: &mut [u8]| {
            let (low, high) = b.split_at_mut(j);
            low[i..i + size].swap_with_slice(&mut high[..size]);
        }
    };
    let last = layout.b_g2.count - 1;
    let first_wrong = |i: u64| {
        let at = |section: Section| section.offset + i * section.point_bytes;
        let (here, there) = (at(layout.b_g2), at(layout.b_g1));
        format!("point {i} at byte {here} is not the number that b_g1's point {i} at byte {there} is")
    };
    wrong(checked(dir.path(), &bytes, swap(layout.b_g2, 3, last)), "b_g2", &first_wrong(3));
    wrong(checked(dir.path(), &bytes, swap(layout.b_g1, last - 1, last)), "b_g2", &first_wrong(last - 1));
    // One point of either, first and last, made another of the subgroup.
    for (section, index) in [(layout.b_g1, 0), (layout.b_g1, last), (layout.b_g2, 0), (layout.b_g2, last)] {
        let at = (section.offset + index * section.point_bytes) as usize;
        let outcome = checked(dir.path(), &bytes, |b| match section.point_bytes {
            96 => b[at..at + 96].copy_from_slice(&G1Affine::generator().to_uncompressed()),
            _ => b[at..at + 192].copy_from_slice(&G2Affine::generator().to_uncompressed()),
        });
        wrong(outcome, "b_g2", &first_wrong(index));
    }
    // The same change on both sides cannot be seen without the circuit.
    checked(dir.path(), &bytes, |b| {
        swap(layout.b_g1, 0, last)(b);
        swap(layout.b_g2, 0, last)(b);
    })
    .unwrap();
}

/// Points of the subgroup that are not the file's are seen in no other section. The digest sees them in all.
#[test]
fn what_no_pairing_sees_the_digest_sees() {
    let (dir, bytes, layout) = small_file();
    let good = checked(dir.path(), &bytes, |_| ()).unwrap();
    assert_eq!(good.file_digest, key_digest(&bytes));
    assert!(!good.listed);
    let path = dir.path().join("changed.params");
    let listed = Listed { file: &good.file_digest, key: &good.key_digest, sector_size: 2048 };
    assert!(check_as(&path, Some(listed), Control::NONE).unwrap().listed);
    let key = (384, "gamma_g2");
    let sections = [layout.ic, layout.h, layout.l, layout.a].map(|s| (s.offset as usize, s.name));
    for (at, name) in [key].into_iter().chain(sections) {
        let outcome = checked(dir.path(), &bytes, |b| match name {
            "gamma_g2" => b[at..at + 192].copy_from_slice(&G2Affine::generator().to_uncompressed()),
            _ => b[at..at + 96].copy_from_slice(&G1Affine::generator().to_uncompressed()),
        });
        assert_ne!(outcome.unwrap().file_digest, good.file_digest);
        let outcome = check_as(&path, Some(listed), Control::NONE);
        if ["h", "l", "a"].contains(&name) {
            wrong(outcome, "params", "the key is Filecoin's, the file is not");
        } else {
            // Another key: a file that Filecoin does not know, and that says so.
            assert!(!outcome.unwrap().listed);
        }
    }
}

#[test]
fn the_key_must_agree_with_itself() {
    let (dir, bytes, layout) = small_file();
    let g1 = G1Affine::generator().to_uncompressed();
    let g2 = G2Affine::generator().to_uncompressed();
    for (at, point, field) in
        [(96, &g1[..], "beta_g2"), (192, &g2[..], "beta_g2"), (576, &g1[..], "delta_g2"), (672, &g2[..], "delta_g2")]
    {
        let name = field.trim_end_matches("_g2");
        let outcome = checked(dir.path(), &bytes, |b| b[at..at + point.len()].copy_from_slice(point));
        wrong(outcome, field, &format!("{name}_g1 at byte"));
    }
    // With B wrong, too, nothing tells them apart.
    let outcome = checked(dir.path(), &bytes, |b| {
        b[96..192].copy_from_slice(&g1);
        b[layout.b_g1.offset as usize..][..96].copy_from_slice(&g1);
    });
    wrong(outcome, "delta_g2", "beta or delta");
}

#[test]
fn the_key_file_must_be_the_files_own_key() {
    let (dir, _, _) = small_file();
    let (path, vk) = (dir.path().join("v28-test.params"), dir.path().join("v28-test.vk"));
    let key = fs::read(&vk).unwrap();
    let mut other = key.clone();
    other.swap(0, 100);
    for wrong_key in [&other[..], &key[..key.len() - 1], &[&key[..], &[0]].concat(), b""] {
        fs::write(&vk, wrong_key).unwrap();
        wrong(check(&path, Control::NONE), "vk", "is not the key of the parameters");
    }
    fs::write(&vk, key).unwrap();
    check(&path, Control::NONE).unwrap();
}

#[test]
fn a_small_order_point_among_many_is_found() {
    // r·Q for Q outside the subgroup has no part in it: of the cofactor's small orders, the hardest to find.
    let never = || false;
    let generator = G1Affine::generator();
    let outside = G1Affine::decode(&outside_subgroup_g1()).unwrap();
    // By doubling and adding: blst's own multiplication is right inside the subgroup only.
    let r_minus_1 = (-blstrs::Scalar::from(1)).to_bytes_be();
    let bits = r_minus_1.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1));
    let multiple =
        bits.fold(G1Projective::identity(), |sum, bit| if bit == 1 { sum.double() + outside } else { sum.double() });
    let pure = (multiple + outside).to_affine();
    assert!(!pure.in_subgroup() && !bool::from(pure.is_identity()));
    for place in [0, 1, 999] {
        let mut points = vec![generator; 1000];
        let mut sums = SubsetSums::new(Bits::fresh().unwrap());
        sums.add(&points, &never).unwrap();
        assert!(sums.all_in_subgroup());
        points[place] = pure;
        sums.add(&points, &never).unwrap();
        assert!(!sums.all_in_subgroup());
    }
    // Two that cancel each other in most combinations.
    let mut sums = SubsetSums::new(Bits::fresh().unwrap());
    sums.add(&[pure, -pure, generator], &never).unwrap();
    assert!(!sums.all_in_subgroup());
}
