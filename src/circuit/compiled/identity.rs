//! Which circuit a compiled circuit is of.

/// The crates whose code decides what the circuits are, with the versions of `Cargo.lock` (a test compares).
const CRATES: [(&str, &str); 9] = [
    ("bellpepper", "0.2.1"),
    ("bellpepper-core", "0.2.1"),
    ("filecoin-hashers", "14.1.0"),
    ("filecoin-proofs", "19.1.0"),
    ("neptune", "11.0.0"),
    ("storage-proofs-core", "19.1.0"),
    ("storage-proofs-porep", "19.1.0"),
    ("storage-proofs-post", "19.1.0"),
    ("storage-proofs-update", "19.1.0"),
];

/// A circuit's name and the crates that made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Kind and sector size, such as `porep-32GiB`.
    pub circuit: String,
    /// The crates that decide what it is, with their versions.
    pub crates: String,
}

impl Identity {
    /// A circuit of Filecoin's, by the crates this library is built with.
    pub fn filecoin(circuit: String) -> Self {
        let crates: Vec<String> = CRATES.iter().map(|(name, version)| format!("{name} {version}")).collect();
        Identity { circuit, crates: crates.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        for (name, version) in CRATES {
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&entry), "{name} has another version: raise it here");
            assert_eq!(lock.matches(&format!("name = \"{name}\"\n")).count(), 1, "{name}");
        }
    }
}
