#!/usr/bin/env bash
# A release, up to the point where somebody publishes it: wheel and sdist of the last commit, built
# twice with the same bytes, looked through, installed into empty environments and used.
# Nothing is published.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
builder=${BUILDER:-$repository/.venv/bin/python}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$repository"
[ -z "$(git status --porcelain)" ] || echo "note: uncommitted changes are not in the release" >&2
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

for time in one two; do
  mkdir -p "$place/$time/source" "$place/$time/dist"
  git archive HEAD | tar -x -C "$place/$time/source"
  (cd "$place/$time/source" && "$builder" -m hatchling build -d "$place/$time/dist" > /dev/null)
done
wheel=$(basename "$place"/one/dist/*.whl) sdist=$(basename "$place"/one/dist/*.tar.gz)
for file in "$wheel" "$sdist"; do
  cmp "$place/one/dist/$file" "$place/two/dist/$file"
done
echo "the same bytes twice"
"$builder" tests/helpers/wheelcontents.py "$place/one/dist/$wheel"

# From nothing: an empty environment, an empty home, a table of one's own.
mkdir "$place/home"
printf 'sex,age,postcode,income\nf,34,01234,low\nm,34,01234,high\nf,34,01234,low\nm,71,20095,low\n' \
  > "$place/mine.csv"
try() { # what is installed, from where
  local environment="$place/$1" started=$SECONDS
  "$python" -m venv "$environment"
  "$environment/bin/python" -m pip --quiet --disable-pip-version-check install "$2"
  (
    cd "$place"
    export HOME="$place/home"
    answer=$("$environment/bin/sievert" assess mine.csv -q sex,age,postcode -s income \
      --html "$1.html")
    grep -q 'k-anonymity (k)  *1 person' <<< "$answer"
    grep -q '</html>' "$1.html"
  )
  echo "$1: installed, and a first table assessed, in $((SECONDS - started)) seconds;" \
    "$(du -sm "$environment" | cut -f1) MB"
}
try wheel "$place/one/dist/$wheel"
"$place/wheel/bin/sievert" --version
"$place/wheel/bin/sievert" doctor
try sdist "$place/one/dist/$sdist"

mkdir -p dist
cp "$place/one/dist/$wheel" "$place/one/dist/$sdist" dist/
(cd dist && sha256sum "$wheel" "$sdist")
echo "dist/ has the release; nothing was published"
