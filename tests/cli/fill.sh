# shellcheck shell=bash
# What random inputs hold: a part of the key, so that no two are compared without a word. And what is
# said of warm-up and clock.
say "what is chosen"
t run null/copy/right --device fake --batch 4 --seq 8 --fill zeros,uniform,normal --cache warm,cold --dry-run
t run null/copy/right --device fake --fill ones --dry-run
t run null/copy/right --device fake --fill gone.npy --dry-run
t run --suite quick --fill zeros
t run --fill zeros -- true
t tune gemm/nn --device cpu:1 --fill ones
t tune gemm/nn --device cpu:1 --clock slow
t run null/copy/right/fp32/batch=4,seq=8/fake/warm+zeros --device fake --dry-run
say "of single tensors"
t run gemm/linear/simd --device cpu:1 --batch 1 --seq 64 --dim n=48 --dim k=48 --fill weight=zeros,x=uniform,zeros --dry-run
t run gemm/linear/simd --device cpu:1 --batch 1 --seq 64 --dim n=48 --dim k=48 --fill y=zeros --dry-run
t run gpt/nano/prefill/simd --device cpu:1 --batch 1 --seq 8 --fill tokens=zeros --dry-run
t run null/copy/right --device fake --fill x=zeros,x=normal --dry-run
t run null/copy/right/fp32/batch=4,seq=8/fake/warm+x=zeros --device fake --dry-run
say "a file of NumPy's, written as its description says"
python3 - <<'END' || skip "there is no python3"
import struct
def save(path, descr, data, order="False", shape=None):
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s,), }" % (descr, order, shape or len(data))
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%d%s" % (len(data), {"4": "f", "8": "d"}[descr[-1]]), *data))
some = [0.5, -1.25, 2, 0.0, -0.75]
save("some.npy", "<f4", some)
save("same.npy", "<f4", some)
save("double.npy", "<f8", some)
save("fortran.npy", "<f4", some, "True")
save("cut.npy", "<f4", some, shape=50)
save("nan.npy", "<f4", [1, float("nan")])
save("large.npy", "<f8", [1, 1e39])
open("text.npy", "w").write("0.5 -1.25")
END
t run null/copy/right --device fake --batch 4 --seq 8 --fill some.npy,same.npy,double.npy --dry-run
for file in fortran cut nan text; do
  t run null/copy/right --device fake --fill $file.npy --dry-run
done
truncate -s 300M huge.npy
t run null/copy/right --device fake --fill huge.npy --dry-run
say "right on all of them"
for fill in zeros uniform some.npy; do
  t verify gemm/nn/simd layernorm/plain/simd attention/decode/simd pointwise/residual/simd --test-shapes \
    --device cpu:1 --seed 1 --fill $fill | tail -1
done
t verify null/copy/right --device fake --batch 4 --seq 8 --fill some.npy --seed 1
t verify gemm/linear/simd --device cpu:1 --seed 1 --test-shapes --fill x=some.npy,weight=zeros | tail -1
t verify gemm/nn/simd_bf16 --device cpu:1 --batch 1 --fill large.npy --seed 1 --test-shapes | tail -1
t verify gpt/nano/prefill/simd --device cpu:1 --batch 1 --seq 8 --fill zeros --seed 1
t verify null/copy/right --device fake --fill zeros --record verified.json
say "kept apart"
fake seed=3 --batch 4 --seq 8 --launches 2 --fill some.npy
fake seed=3 --batch 4 --seq 8 --launches 2 --fill zeros
fake seed=3 --batch 4 --seq 8 --launches 2
"$HARNESS" history show 1 --json >run.json
check "the settings say which file it was" grep -q '"name":[[:space:]]*"file-[0-9a-f]\{8\}"' run.json
check "and the key has that name" grep -q '/fake/warm+file-[0-9a-f]\{8\}"' run.json
check "a member of its own, too" grep -q '"fill":[[:space:]]*"file-[0-9a-f]\{8\}"' run.json
sed -E 's/"fill":([[:space:]]*)"file/"fill":\1"tile/' run.json >bad.json
t compare --baseline ./bad.json --head 2
check "CSV has a column" sh -c "'$HARNESS' export 2 --format csv | grep -c ',zeros.\$' | grep -qx 2"
check "but not where all is normal" sh -c "! '$HARNESS' export 3 --format csv | grep -q fill"
t compare --baseline 3 --head 2
fake seed=3 --batch 4 --seq 8 --launches 2 --fill x=some.npy
"$HARNESS" history show 4 --json >each.json
check "of tensors, too" grep -q '/fake/warm+x=file-[0-9a-f]\{8\}"' each.json
check "a member of its own" grep -q '"fill":[[:space:]]*"x=file-[0-9a-f]\{8\}"' each.json
check "with what stands behind it" grep -q '"tensors":[[:space:]]*{' each.json
t compare --baseline ./each.json --head 4
say "warm-up and clock"
t run null/copy/right --device fake --clock slow
t run null/copy/right --device fake --clock steady
t run --clock steady -- true
t run --warm-up 5ms -- true
"$HARNESS" run null/copy/right --device "$FAKE" --batch 4 --seq 8 --seed 1 --iterations 20 --warm-up 1ms \
  --clock free 2>/dev/null | grep -E '^(warm-up|clock)'
