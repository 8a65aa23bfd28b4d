#!/bin/bash
# Builds the device tests and the bench with nvcc and runs them on this machine's GPU: run.sh FOLDER [NAME...]
set -uo pipefail
cd "$(dirname "$0")"
out=${1:?a folder to build in}
shift
mkdir -p "$out"
flags=(-O3 -std=c++17 -gencode "arch=compute_${ARCH:-90},code=sm_${ARCH:-90}" -I..)
[ $# -gt 0 ] || set -- field ntt msm prove bench
library=(msm_g1 msm_g2 ntt query context entry)
compile() {
  nvcc "${flags[@]}" -Xptxas -v -c "$1" -o "$2.o" >"$2.log" 2>&1 || { grep -E "rror" "$2.log" | head; echo "WRONG $1 does not compile"; }
  echo "$1 compiled after $SECONDS s"
}
for s in "${library[@]}"; do compile "../$s.cu" "$out/library-$s" & done
for s in "$@"; do compile "$s.cu" "$out/test-$s" & done
wait
wrong=0
for t in "$@"; do

    nvcc -arch "sm_${ARCH:-90}" "$out/test-$t.o" $(printf "$out/library-%s.o " "${library[@]}") -o "$out/$t" || { wrong=1; continue; }
  echo "== $t (after $SECONDS s)"
  "$out/$t" || wrong=1
done
exit $wrong
