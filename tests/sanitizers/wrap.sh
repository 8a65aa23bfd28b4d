#!/bin/bash
# wrap.sh FOLDER: compiles std_order.rs for this compiler's std and writes FOLDER/link.args, the linker's arguments with it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out"
std=("$(rustc --print sysroot)"/lib/rustlib/x86_64-unknown-linux-gnu/lib/libstd-*.rlib)
symbols=$(readelf -sW "${std[0]}" 2>/dev/null | awk '$4 == "FUNC" && $5 == "GLOBAL" {print $8}' | sort -u)
cp "$here/std_order.rs" "$out/std_order.rs"
args=("$out/std_order.o" -Wl,--wrap=__tsan_atomic64_fetch_sub)
while read -r name pattern; do
  symbol=$(grep -E "$pattern" <<<"$symbols") || { echo "std has no function for $name ($pattern)" >&2; exit 1; }
  [ "$(wc -l <<<"$symbol")" = 1 ] || { echo "several of std's functions look like $name: $symbol" >&2; exit 1; }
  sed -i "s/\"WRAP_$name\"/\"__wrap_$symbol\"/; s/\"REAL_$name\"/\"__real_$symbol\"/" "$out/std_order.rs"
  args+=("-Wl,--wrap=$symbol")
done <<'EOF'
LOCK 5mutex5futex.*5Mutex14lock_contended$
READ 6rwlock5futex.*6RwLock14read_contended$
WRITE 6rwlock5futex.*6RwLock15write_contended$
WAIT 7condvar5futex.*7Condvar4wait$
TIMED_WAIT 7condvar5futex.*7Condvar12wait_timeout$
ONCE 4once5futex.*4Once4call$
SCOPE_END 6scoped.*9ScopeData29decrement_num_running_threads$
EOF
rustc --edition 2021 --crate-type lib --emit "obj=$out/std_order.o" -C panic=abort -O "$out/std_order.rs"
printf '%s\n' "${args[@]}" >"$out/link.args.new"
# The same arguments leave the file alone: cargo links again when it changes.
cmp -s "$out/link.args.new" "$out/link.args" || mv "$out/link.args.new" "$out/link.args"
rm -f "$out/link.args.new"
