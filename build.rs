//! How the shared library is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let link = |arg: &str| println!("cargo:rustc-cdylib-link-arg={arg}");
    // Programs bind to the version of the C surface, not to a file's name.
    link("-Wl,-soname,libsplitprove.so.0");
    // Threads, thread-locals and the panic hook stay behind after dlclose: the code must stay mapped.
    link("-Wl,-z,nodelete");
    // Every symbol is bound at load and the tables are read-only from then on.
    link("-Wl,-z,relro,-z,now");
}
