#!/usr/bin/env bash
# A newcomer: a fresh clone, an empty home, only the README. From nothing to an assessment of their
# own CSV file in two commands, the second one being the README's own line for that.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
git clone --quiet "$repository" "$place/sievert"
mkdir "$place/home"
cd "$place/sievert"
pick() { grep -E "^    $1" README.md | head -n 1 | sed 's/^    //'; }

demo=$(pick 'make demo')
own=$(pick '\.venv/bin/sievert assess mine\.csv')
[ -n "$demo" ] && [ -n "$own" ]
printf 'sex;age;postcode;income\nf;34;01234;low\nm;34;01234;high\nf;34;01234;low\nm;71;20095;low\n' > mine.csv

run() {
  env -i HOME="$place/home" PATH="$PATH" LANG=C.UTF-8 \
    $(env | grep -E '^(PIP_|SSL_|REQUESTS_|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY)' | tr '\n' ' ') \
    bash -c "$1"
}
# The core alone, before anything else is installed: a page with its tables, and the doctor.
run "make --silent .venv/.core"
core=$(run ".venv/bin/sievert assess mine.csv -q sex,age,postcode -s income --html core.html")
grep -q 'k-anonymity (k)  *1 person' <<< "$core"
grep -q "sievert\[charts\]" core.html
run ".venv/bin/sievert doctor" | grep -q 'The core works.'
if run ".venv/bin/python -m pip list" | grep -Ei '^(vl-convert|numba|pyarrow|scipy|pandas)'; then
  echo "the core has a package of an extra" >&2
  exit 1
fi

run "$demo"
grep -q 'class="chart' demo/decision.html
# A raw table is asked about as a plan; the release that was made is answered for as it is.
grep -q 'A release without patient_id, .* would not meet the policy' demo/decision.txt
grep -q 'Yes, this release meets the policy' demo/release.txt
run "$demo" > /dev/null
before=$(find "$place/home" | sort)
answer=$(run "$own")
printf '%s\n' "$answer"
grep -q '2 of 4 are the only one with their sex, age and postcode' <<< "$answer"
grep -q 'k-anonymity (k)  *1 person' <<< "$answer"
grep -q 'unique people  *50 %' <<< "$answer"
[ "$before" = "$(find "$place/home" | sort)" ] || { echo "something was left in the home" >&2; exit 1; }
echo "newcomer: from nothing to an assessment of their own file in two commands"
