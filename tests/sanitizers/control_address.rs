//! Memory used well and badly: what `make sanitizers` must and must not report under AddressSanitizer and LeakSanitizer.

use std::alloc::{alloc, dealloc, Layout};
use std::hint::black_box;

fn main() {
    let layout = Layout::array::<u64>(8).unwrap();
    // SAFETY: the layout has bytes.
    let block = unsafe { alloc(layout) }.cast::<u64>();
    // SAFETY: in bounds, but for "past-the-end", which a sanitizer must find.
    let write = |at: usize| unsafe { black_box(block).add(at).write_volatile(7) };
    // SAFETY: allocated above with this layout, once.
    let free = || unsafe { dealloc(block.cast(), layout) };
    match std::env::args().nth(1).as_deref() {
        Some("clean") => {
            write(7);
            free();
        }
        Some("past-the-end") => {
            write(8);
            free();
        }
        Some("after-free") => {
            free();
            write(0);
        }
        Some("leak") => {
            std::thread::spawn(|| black_box(Box::leak(Box::new([3u8; 100])))[0] = 1).join().unwrap();
            free();
        }
        _ => std::process::exit(2),
    }
    println!("went through");
}
