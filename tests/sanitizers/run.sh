#!/bin/bash
# run.sh [address] [thread]: the engine's tests and the C and C++ programs under AddressSanitizer with LeakSanitizer, and the
# engine's tests under ThreadSanitizer. Each first shows, with a control program under the same flags, that it sees what it
# is for. Output of what fails is in TARGET/asan and TARGET/tsan.
#
# Builds the crate and all below it once for each sanitizer, with folders of their own: some 8 minutes of CPU each. Stable Rust has the
# sanitizers behind RUSTC_BOOTSTRAP.
#
# SANITIZERS_SHORT=1: without real proofs, with fewer storms and without the longest of the pipeline's tests.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
export TARGET=${CARGO_TARGET_DIR:-$PWD/target}
case $TARGET in /*) ;; *) TARGET=$PWD/$TARGET ;; esac
# So that build scripts and macros are left as they are.
TRIPLE=x86_64-unknown-linux-gnu
export RUSTC_BOOTSTRAP=1
unset CARGO_TARGET_DIR
SHORT=${SANITIZERS_SHORT:-0}

# The resident size is not that of instrumented code.
LEFT_OUT='binary(pipeline) & test(memory_is_back_after)'
# Minutes each.
LONG='test(no_mixture_passes_the_budget_or_is_starved) | test(t2_fifty_proofs_under_a_budget_for_three) | test(t9_cancelling)'
FILTER="not ($LEFT_OUT)"
[ "$SHORT" = 0 ] || FILTER="not ($LEFT_OUT | $LONG)"
STORMS=2000
[ "$SHORT" = 0 ] || STORMS=320

die() { echo "sanitizers: $*" >&2; exit 1; }

tests() {
  SPLITPROVE_STORMS=$STORMS cargo nextest run --locked --cargo-profile sanitizers --target "$TRIPLE" --target-dir "$1" \
    --no-default-features --features test-hooks --test pipeline --test engine --test capi_jobs -E "$FILTER" \
    --test-threads 2 --no-fail-fast --status-level slow --final-status-level fail --failure-output final
}

# control FOLDER SOURCE WORD GOOD BAD…: GOOD goes through in silence, each BAD is reported in a line with WORD.
control() {
  local out=$1 source=$2 word=$3 good=$4 status
  shift 4
  # shellcheck disable=SC2086 # flags are words
  rustc --edition 2021 -O -g --target "$TRIPLE" $RUSTFLAGS -o "$out/control" "$here/$source"
  "$out/control" "$good" >"$out/control.log" 2>&1 || { cat "$out/control.log" >&2; die "$source $good was reported"; }
  grep -q '^went through$' "$out/control.log" || die "$source $good did not run"
  for bad in "$@"; do
    status=0
    "$out/control" "$bad" >"$out/control.log" 2>&1 || status=$?
    [ $status != 0 ] && grep -q "$word" "$out/control.log" || die "$source $bad was not caught (status $status)"
    echo "caught: $bad ($(grep -m 1 -oE "$word: [a-z -]+" "$out/control.log"))"
  done
}

address() {
  local out=$TARGET/asan runtime
  mkdir -p "$out"
  export RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=1
  echo '== AddressSanitizer and LeakSanitizer: control'
  control "$out" control_address.rs Sanitizer clean past-the-end after-free leak
  echo '== AddressSanitizer and LeakSanitizer: Rust tests'
  tests "$out"

  echo '== AddressSanitizer and LeakSanitizer: C and C++ programs'
  # Objects of gcc and of rustc speak to one runtime, rustc's: only the flag at the link would bring gcc's.
  runtime=$(rustc --print sysroot)/lib/rustlib/$TRIPLE/lib/librustc-stable_rt.asan.a
  # gcc warns of what its own instrumentation leaves undecided.
  local flags='-fsanitize=address -fno-omit-frame-pointer -Wno-maybe-uninitialized'
  cmake -S tests/cpp -B "$out/cpp" -DSPLITPROVE_LIBRARY="$out/$TRIPLE/sanitizers/deps/libsplitprove.so" \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_EXE_LINKER_FLAGS="-fno-sanitize=address \
      -Wl,--whole-archive $runtime -Wl,--no-whole-archive -Wl,--export-dynamic -lm -ldl -lrt" >/dev/null
  cmake --build "$out/cpp" --parallel
  # calls has a malloc of its own and counts nanoseconds; space limits the address space, of which a sanitizer takes all;
  # the exports are those of the library as it ships.
  local skip='^(calls|exports|harness_c_space)$'
  # What makes proofs leaves them out when no parameters are named.
  if [ "$SHORT" != 0 ]; then
    unset FIL_PROOFS_PARAMETER_CACHE
  elif ! compgen -G "${FIL_PROOFS_PARAMETER_CACHE:-/nowhere}/*.params" >/dev/null; then
    echo 'no parameters (make params): the real proofs are left out'
    unset FIL_PROOFS_PARAMETER_CACHE
  fi
  ctest --test-dir "$out/cpp" --output-on-failure --no-tests=error -E "$skip"
}

thread() {
  local out=$TARGET/tsan
  mkdir -p "$out"
  grep -vE '^(#|$)' "$here/tsan.supp" | grep -vE '^race:(test::|Arc<std::|crossbeam_deque::)' &&
    die 'tsan.supp names something that is not below the library'
  # Their slow paths are not among those that std_order.rs tells of.
  grep -rnE 'mpsc|thread::park|sync::Barrier' src/engine src/memory src/telemetry src/capi src/groth16 src/witness &&
    die 'the library uses what std_order.rs does not know'
  "$here/wrap.sh" "$out/std"
  export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer -Clink-arg=@$out/std/link.args"
  export TSAN_OPTIONS="suppressions=$here/tsan.supp"
  echo '== ThreadSanitizer: control'
  control "$out" control_thread.rs ThreadSanitizer ordered changed-after-hand-over without-the-lock relaxed-flag
  echo '== ThreadSanitizer: Rust tests'
  tests "$out"
}

[ $# -gt 0 ] || set -- address thread
for part in "$@"; do
  case $part in address | thread) ;; *) die "no part $part" ;; esac
  from=$SECONDS
  ("$part")
  echo "-- $part: $((SECONDS - from)) s"
done
