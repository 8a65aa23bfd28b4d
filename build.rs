//! How the shared library is linked, and the CUDA backend compiled.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let link = |arg: &str| println!("cargo:rustc-cdylib-link-arg={arg}");
    // Programs bind to the version of the C surface, not to a file's name.
    link("-Wl,-soname,libsplitprove.so.0");
    // Threads, thread-locals and the panic hook stay behind after dlclose: the code must stay mapped.
    link("-Wl,-z,nodelete");
    // Every symbol is bound at load and the tables are read-only from then on.
    link("-Wl,-z,relro,-z,now");

    println!("cargo:rustc-check-cfg=cfg(splitprove_cuda)");
    if env::var_os("CARGO_FEATURE_CUDA").is_some() {
        for variable in ["NVCC", "CUDA_HOME", "CUDA_PATH", "PATH", "SPLITPROVE_CUDA_ARCHS"] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        match find_nvcc() {
            Some(nvcc) => compile_cuda(&nvcc),
            None => println!("cargo:warning=no nvcc was found: splitprove is built without its CUDA backend"),
        }
    }
}

/// Architectures to compile for, as nvcc numbers them. From the last one intermediate code for newer devices is kept.
const ARCHITECTURES: &str = "80,86,89,90,120";

/// The files of the CUDA backend, the longest to compile first.
const SOURCES: [&str; 6] = ["msm_g2", "msm_g1", "ntt", "context", "entry", "query"];

/// `$NVCC` (`off`: none), `$CUDA_HOME`, `$CUDA_PATH`, `$PATH`, then where NVIDIA's packages lay it.
fn find_nvcc() -> Option<PathBuf> {
    if let Some(nvcc) = env::var_os("NVCC").filter(|v| !v.is_empty()) {
        return (nvcc != "off").then(|| nvcc.into());
    }
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(|d| PathBuf::from(d).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = toolkits.chain(env::split_paths(&path)).chain(["/usr/local/cuda/bin".into()]);
    folders.find_map(|d| Some(d.join("nvcc")).filter(|nvcc| nvcc.is_file()))
}

/// The folder with the static runtime: wheels lay it into lib, installers into lib64, Debian beside the system's.
fn runtime_folder(nvcc: &Path) -> PathBuf {
    let nvcc = if nvcc.components().count() > 1 {
        nvcc.canonicalize().unwrap_or_else(|_| nvcc.to_path_buf())
    } else {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).map(|d| d.join(nvcc)).find(|n| n.is_file()).unwrap_or_else(|| nvcc.to_path_buf())
    };
    let root = nvcc.parent().and_then(Path::parent).unwrap_or(Path::new("/usr/local/cuda")).to_path_buf();
    let folders = ["lib64", "lib", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu"];
    let found = folders.iter().map(|d| root.join(d)).find(|d| d.join("libcudart_static.a").is_file());
    found.unwrap_or_else(|| panic!("libcudart_static.a is not beside {}", nvcc.display()))
}

fn compile_cuda(nvcc: &Path) {
    println!("cargo:rerun-if-changed=cuda");
    let known = Command::new(nvcc).arg("--list-gpu-code").output();
    let known = known.unwrap_or_else(|e| panic!("{} does not run: {e}", nvcc.display())).stdout;
    let known = String::from_utf8_lossy(&known).into_owned();
    // So the cc crate learns which nvcc; a compiler given otherwise would get the host compiler's flags.
    env::set_var("NVCC", nvcc);
    let mut build = cc::Build::new();
    // Debugging information of the device would switch its optimiser off.
    build.cuda(true).cudart("none").std("c++17").debug(false).opt_level(3).include("cuda").warnings(false);
    let wanted = env::var("SPLITPROVE_CUDA_ARCHS").ok().filter(|v| !v.is_empty()).unwrap_or(ARCHITECTURES.into());
    let wanted: Vec<&str> = wanted.split([',', ' ']).filter(|a| !a.is_empty()).collect();
    let archs: Vec<&str> = wanted.iter().copied().filter(|a| known.lines().any(|k| k == format!("sm_{a}"))).collect();
    let Some(last) = archs.last() else { panic!("this nvcc knows none of the architectures {wanted:?}: {known}") };
    for arch in &archs {
        build.flag("-gencode").flag(format!("arch=compute_{arch},code=sm_{arch}"));
    }
    build.flag("-gencode").flag(format!("arch=compute_{last},code=compute_{last}"));
    build.flag("-Xcompiler").flag("-fvisibility=hidden");
    // One file a build: given several, the cc crate makes relocatable device code, in which a function that is not
    // inlined knows nothing of the registers its callers were promised.
    let workers = env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(1usize).clamp(1, SOURCES.len());
    let next = AtomicUsize::new(0);
    let objects = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(source) = SOURCES.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let made = build.clone().file(format!("cuda/{source}.cu")).compile_intermediates();
                    objects.lock().unwrap().extend(made);
                }
            });
        }
    });
    cc::Build::new().cpp(true).objects(objects.into_inner().unwrap()).compile("splitprove_cuda");
    // The static runtime opens the driver's library itself, when it is first needed.
    println!("cargo:rustc-link-search=native={}", runtime_folder(nvcc).display());
    for library in ["static=cudart_static", "dylib=dl", "dylib=rt", "dylib=pthread"] {
        println!("cargo:rustc-link-lib={library}");
    }
    println!("cargo:rustc-cfg=splitprove_cuda");
}
