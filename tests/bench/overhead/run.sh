#!/bin/bash
# run.sh FOLDER: what the engine costs beside the proofs it makes. FOLDER has examples/overhead and splitprove, as shipped.
#
# 1. Instructions a partition in the engine's own code (memory, telemetry, engine, tracing with nobody listening), under callgrind,
#    of proofs of a tiny circuit; against those of one 2 KiB PoRep's synthesis. Synthesis is a part of the proof, so the share
#    of the whole proof is smaller. What grows with the proof (a look at the cancel flag every 4096 rows) is in the synthesis.
# 2. A debug log that a callback takes: records a proof times instructions a record, against the same.
# 3. Seconds a proof with a budget that just fits against none, PAIRS pairs one after the other, medians. Wants a quiet machine.
#
# Callgrind has no AVX-512: the portable code runs. OVERHEAD_PAIRS=0 leaves the third out.
set -euo pipefail
cd "$(dirname "$0")/../../.."
overhead=$1/examples/overhead splitprove=$1/splitprove
command -v valgrind >/dev/null || { echo 'valgrind is missing (Debian package valgrind)' >&2; exit 3; }
PAIRS=${OVERHEAD_PAIRS:-7}
fixture=(tests/data/porep-2k/public.json tests/data/porep-2k/c1.json)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$splitprove" params generate --circuit porep-2KiB >/dev/null

callgrind() {
  local out=$1
  shift
  valgrind -q --tool=callgrind --callgrind-out-file="$work/$out" "$@" >"$work/$out.log" 2>&1 || { cat "$work/$out.log" >&2; exit 1; }
}
failed=0
# verdict WHAT FIGURES PART WHOLE PERCENT: whether PART is less than PERCENT of WHOLE.
verdict() {
  local share good=FAILED
  share=$(awk "BEGIN {printf \"%.6f\", 100 * $3 / $4}")
  if awk "BEGIN {exit !($share < $5)}"; then good=holds; else failed=1; fi
  echo "$1: $2 = $share % (wanted: below $5 %): $good"
}

echo '== instructions of the engine, a partition'
for run in tiny traced; do
  for jobs in 4 20; do callgrind $run.$jobs "$overhead" $run $jobs; done
  "$overhead" report "$work/$run.4" 4 "$work/$run.20" 20 >"$work/$run"
done
cat "$work/tiny"
engine=$(sed -n 's/^engine //p' "$work/tiny")
traced=$(sed -n 's/^engine //p' "$work/traced")
echo "with a timeline being written: $traced"
# Whoever counts nothing, or not what is added, proves nothing.
[ "$engine" -gt 2000 ] && [ "$traced" -gt $((engine + 500)) ] || { echo 'the engine was not seen at work' >&2; exit 1; }

callgrind synthesis --collect-atstart=no --toggle-collect=real_synthesis "$overhead" synthesis "${fixture[@]}"
synthesis=$("$overhead" total "$work/synthesis")
verdict 'counters, permits, scheduling, tracing off' "$engine of $synthesis instructions" "$engine" "$synthesis" 0.1

for records in 100 1100; do callgrind emit.$records "$overhead" emit $records; done
record=$((($("$overhead" total "$work/emit.1100") - $("$overhead" total "$work/emit.100")) / 1000))
records=$("$overhead" records "${fixture[@]}" | sed -n 's/^records //p')
[ "$record" -gt 100 ] && [ "$records" -gt 0 ] || { echo "no log was seen: $records records of $record" >&2; exit 1; }
verdict 'debug log taken by a callback' "$records records of $record instructions of $synthesis" $((engine + records * record)) "$synthesis" 1

[ "$PAIRS" -gt 0 ] || exit $failed
field() { sed -n "s/.*\"$1\":[[:space:]]*\([0-9.]*\).*/\1/p" <<<"$2" | head -n 1; }
bench() { "$splitprove" bench --kind porep --public "${fixture[0]}" --input "${fixture[1]}" --count 2 --json "$@"; }
peak=$(field budget_peak_bytes "$(bench)")
# A part of it is kept for critical jobs, another for requests that wait.
for ((percent = 100; percent <= 140; percent += 2)); do
  budget=$((peak / 100 * percent))
  if bench --budget $budget >"$work/fits" 2>/dev/null; then break; fi
  budget=
done
[ -n "$budget" ] || { echo 'one proof does not fit into 1.4 times what it took' >&2; exit 1; }
echo "== seconds a proof: budget $budget ($percent % of the $peak bytes one proof takes) against none"
for ((i = 0; i < PAIRS; i++)); do
  # Who is first takes turns.
  for side in $((i % 2)) $((1 - i % 2)); do
    if [ "$side" = 0 ]; then seconds=$(field seconds_per_proof_loaded "$(bench)"); else
      seconds=$(field seconds_per_proof_loaded "$(bench --budget $budget)"); fi
    echo "$seconds" >>"$work/side.$side"
  done
done
median() { sort -n "$1" | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
without=$(median "$work/side.0") with=$(median "$work/side.1")
echo "without: $(tr '\n' ' ' <"$work/side.0")"
echo "with:    $(tr '\n' ' ' <"$work/side.1")"
more=$(awk "BEGIN {m = $with - $without; print (m > 0 ? m : 0)}")
verdict 'a budget that just fits one proof' "medians $with s with, $without s without, $PAIRS pairs: more" "$more" "$without" 5
exit $failed
