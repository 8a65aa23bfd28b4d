# temporary
cd "$(dirname "$0")"; B=/tmp/b; mkdir -p $B
F="-O3 -std=c++17 -gencode arch=compute_90,code=sm_90 -I.."
(nvcc $F -c ../ntt.cu -o $B/ntt11.o; nvcc $F -DSP_NTT_BLOCK_LOG=10 -c ../ntt.cu -o $B/ntt10.o 2>&1 | grep rror) &
for s in msm_g1 msm_g2; do (nvcc $F -Xptxas -v -c ../$s.cu -o $B/$s.o > $B/$s.log 2>&1; grep rror $B/$s.log) & done
for s in field bench ntt; do (nvcc $F -c $s.cu -o $B/t-$s.o 2>&1 | grep rror) & done
(nvcc $F -DSP_NTT_BLOCK_LOG=10 -c ../ntt.cu -o $B/ntt10.o 2>&1 | grep rror) &
wait; echo compiled $SECONDS
for v in 10 11; do nvcc -arch sm_90 $B/t-bench.o $B/msm_g1.o $B/msm_g2.o $B/ntt$v.o -o $B/bench$v; done
nvcc -arch sm_90 $B/t-field.o $B/msm_g1.o $B/msm_g2.o $B/ntt11.o -o $B/field; nvcc -arch sm_90 $B/t-ntt.o $B/msm_g1.o $B/msm_g2.o $B/ntt11.o -o $B/ntt
$B/field | grep WRONG; $B/ntt 22 | grep -c ok; $B/ntt 22 | grep WRONG | head
echo == block 10; $B/bench10 ntt; echo == block 11; $B/bench11
for s in msm_g1 msm_g2; do c++filt < $B/$s.log > $OUT/$s.txt; done
cuobjdump -sass -fun '_ZN10splitprove12_GLOBAL__N_18ntt_passILi9ELb1ELb0EEEvPNS_5FieldINS_8FrTraitsEEEiiNS0_6PowersES4_' $B/ntt11.o > $OUT/ntt9.sass 2>&1 || true
cuobjdump -sass $B/ntt11.o | grep -n "Function" | head -30 > $OUT/funcs.txt
echo profile $SECONDS
M=gpu__time_duration.sum
RUNS=0 timeout 100 ncu --clock-control none --metrics $M --csv $B/bench11 g1:20 > $OUT/g1_20.csv 2>&1
RUNS=0 timeout 100 ncu --clock-control none --metrics $M --csv $B/bench11 g1:26 > $OUT/g1_26.csv 2>&1
RUNS=0 timeout 60 ncu --clock-control none --set full -k regex:ntt_pass -s 30 -c 3 $B/bench11 ntt > $OUT/nttfull.txt 2>&1
RUNS=0 timeout 60 ncu --clock-control none --set full -k regex:add_pairs -s 4 -c 2 $B/bench11 g1:24 > $OUT/addfull.txt 2>&1
echo end $SECONDS
