# shellcheck shell=bash
# What is written as records fits its JSON Schema as it is published, and also where members that it
# does not name are forbidden: then schema and program say the same. S0-10, U-10.

python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null ||
  skip "there is no python3-jsonschema (4.0 or newer)"

cat >validate.py <<'END'
import copy, json, sys
import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
published = jsonschema.Draft202012Validator(copy.deepcopy(schema))
for part in [schema, *schema["$defs"].values()]:  # strict, for this test alone
    if "properties" in part and "additionalProperties" not in part:
        part["additionalProperties"] = False
strict = jsonschema.Draft202012Validator(schema)
for name in sys.argv[2:]:
    value = json.load(open(name))
    errors = list(strict.iter_errors(value)) or list(published.iter_errors(value))
    errors.sort(key=lambda e: list(e.path))
    for e in errors[:5]:
        print(f"{name}: {'/'.join(map(str, e.path))}: {e.message[:200]}")
    if not errors:
        print(f"{name}: valid")
END
validate() { python3 validate.py "$CLI/../../docs/schema/records.schema.json" "$@" || echo "[$?]"; }

say "What runs, histories, baselines and exports write"
"$HARNESS" run null/copy --device "$FAKE" --batch 1 --seed 1 --launches 2 --iterations 5 --json \
  >run.json 2>/dev/null || true
fake seed=4,crash=2 --launches 1 --batch 3 --label crashed || true
fake seed=4 --launches 2 --batch 3 --label plain
"$HARNESS" history show plain >show.json
"$HARNESS" export plain >export.json
"$HARNESS" baseline save kept --file kept.json >/dev/null
validate run.json show.json export.json kept.json

say "With a summary in place of samples"
fake seed=4 --launches 1 --batch 3 --iterations 400 --label old
change .harness/history.db "UPDATE run SET started_ms = started_ms - 86400000 WHERE label = 'old'"
quiet history prune --samples-older-than 1h
"$HARNESS" export old >thinned.json
validate thinned.json
check "it has one" grep -q '"thinned"' thinned.json

say "With the roofs of a machine, and a profile"
"$HARNESS" run pointwise/residual --variant naive --batch 1 --seq 8 --launches 1 --iterations 3 \
  --json >real.json 2>/dev/null
"$HARNESS" profile pointwise/residual --variant naive --batch 1 --seq 8 --label profiled \
  -o profiled >/dev/null 2>&1
"$HARNESS" export profiled >profile.json
validate real.json profile.json

say "What was imported"
cp -r "$CLI/../fixtures/import" .
for file in gbench_counters.json gbench_aggregates.json nvbench_axes.json nvbench_bin.json \
  criterion cargo_criterion.jsonl hyperfine_parameters.json pytest_four.json pytest_params.json \
  summary_models.json summary_comparison.json summary_list.json kernels.json; do
  label=${file%.*}
  quiet import "import/$file" --label "$label" --db imported.db
  "$HARNESS" export "$label" --db imported.db >"$label.json"
  validate "$label.json"
done

say "The schema can refuse"
sed 's/"outcome":.*"OK"/"outcome": "FINE"/' run.json >broken.json
validate broken.json | sed -nE '1s/(.{80}).*/\1/p'
sed 's/"uuid":/"uid":/' run.json >broken.json
validate broken.json | cut -c1-60
