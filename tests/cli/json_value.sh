# shellcheck shell=bash
# What the tests ask of JSON: json_value.c answers as json.cmake does, and leaves the rest to it.
[ -n "$JSON_VALUE" ] || skip "not a build tree"
cat >some.json <<'END'
{ "whole": 42, "negative": -7, "most": 18446744073709551615, "least": -9223372036854775808,
  "odd": 9007199254740993, "tenth": 0.1, "sum": 0.30000000000000004, "Whole": 1000, "small": 1e-7, "tiny": 5e-324,
  "large": -2.5e300, "true": true, "false": false, "null": null, "empty": "", "text": "a;b [c] ${d}\\ \"q\" /",
  "escaped": "\u00e9\ud83d\ude00\u0041\t\/", "name\u0073": 1,
  "none": [], "no": {}, "list": [1, "two", [3, {"deep": [4, 5]}], null], "object": {"list": 1, "1": "one"} }
END
sed 's/}$/,}/' some.json >trailing.json
head -c 300 some.json >half.json
: >empty.json

by_cmake() {
  local JSON_VALUE=''
  json_asked "$@"
}
# same WORD...: both say it, and end alike.
same() {
  local asked known
  asked=$("$JSON_VALUE" "$@" 2>/dev/null && echo .)
  known=$(by_cmake "$@" 2>/dev/null && echo .)
  [ "$asked" = "$known" ]
}
# left WORD...: not for json_value.c.
left() {
  local status=0
  [ -z "$("$JSON_VALUE" "$@")" ] || return 1
  "$JSON_VALUE" "$@" || status=$?
  [ $status = 3 ]
}

say "Values"
for name in whole Whole negative tenth sum small tiny large true false null empty text escaped names; do
  check "$name" same --value some.json $name
done
check "in arrays" same --value some.json list 1
check "and below" same --value some.json list 2 1 deep 1
check "by a number that is a name" same --value some.json object 1

say "Lengths"
check "of all" same --length some.json
for name in none no list object; do check "$name" same --length some.json $name; done

say "What is left to CMake"
for name in list object most least odd nowhere; do check "$name" left --value some.json $name; done
check "all" left --value some.json
check "no such place" left --value some.json list 4
check "no number" left --value some.json list first
check "something in a value" left --value some.json whole more
check "the length of a value" left --length some.json text
for file in trailing half empty missing; do check "$file" left --value $file.json whole; done
check "which knows" test "$(json some.json list 2 1 | tr -d ' \n')" = '{"deep":[4,5]}'
