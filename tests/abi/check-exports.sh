#!/bin/bash
# Looks at a built libsplitprove.so from outside: its exported functions are those of the committed list and of the
# header, it needs nothing but the C library, and it is linked as the C surface promises.
#
#   tests/abi/check-exports.sh [target/release/libsplitprove.so]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
so=${1:-$root/target/release/libsplitprove.so}
list=$root/tests/data/abi/exports.txt
export LC_ALL=C
bad=0
fail() { echo "$so: $*" >&2; bad=1; }
[ -e "$so" ] || { echo "$so is not there" >&2; exit 2; }

# Version and section symbols (A) are the linker's.
exported=$(nm -D --defined-only "$so" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort)
diff <(sort "$list") <(echo "$exported") >&2 || fail "its exports are not those of $list (< missing, > too many)"
declared=$(grep -oE '\b(prover?_[a-z_]+|finish_pending_proof|drop_pending_proof)\(' "$root/include/splitprove.h" | tr -d '(' | sort -u)
diff <(sort "$list") <(echo "$declared") >&2 || fail "include/splitprove.h declares other functions than $list"

dynamic=$(readelf -dW "$so")
while read -r needed; do
  case $needed in
    libc.so.6 | libm.so.6 | libgcc_s.so.1 | ld-linux-x86-64.so.2 | ld-linux-aarch64.so.1) ;;
    *) fail "it needs $needed" ;;
  esac
done < <(sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' <<<"$dynamic")
grep -q '(SONAME).*\[libsplitprove\.so\.0\]' <<<"$dynamic" || fail 'its SONAME is not libsplitprove.so.0'
grep -qE 'FLAGS_1.*NODELETE' <<<"$dynamic" || fail 'it is not linked with -z nodelete'
grep -qE '\(BIND_NOW\)|FLAGS.*(BIND_NOW|NOW)' <<<"$dynamic" || fail 'it is not linked with -z now'
grep -qE '\((RPATH|RUNPATH)\)' <<<"$dynamic" && fail 'it has a run path'
grep -q '(TEXTREL)' <<<"$dynamic" && fail 'it has text relocations'
headers=$(readelf -lW "$so")
grep -q 'GNU_RELRO' <<<"$headers" || fail 'it is not linked with -z relro'
grep 'GNU_STACK' <<<"$headers" | grep -q 'RWE' && fail 'its stack is executable'

# Hooks for tests: fixed blinding factors, given trapdoors, tests' own work.
hooks=$(nm -C "$so" 2>/dev/null | grep -E 'Blinding::fixed|Trapdoor::(fixed|given|from)|capi::hooks::' || true)
[ -z "$hooks" ] || fail "it has test hooks: $hooks"
[ -n "$(nm "$so" 2>/dev/null | head -n 1)" ] || echo "$so: no symbol table, test hooks were looked for in its strings only" >&2
# Counted, not found: a grep that ends early would end `strings` with a failure, which pipefail takes for "not there".
marks=$(strings -a "$so" 2>/dev/null | grep -c 'splitprove_test_hooks_are_in' || true)
[ "$marks" = 0 ] || fail 'it was built with test-hooks'

[ $bad = 0 ] && echo "$so: $(wc -l <"$list") exports, links and hooks as they should be"
exit $bad
