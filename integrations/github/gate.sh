#!/usr/bin/env bash
# The step of the action: inputs are variables, never part of this text.
set -uo pipefail

page=$(mktemp "${RUNNER_TEMP:-/tmp}/sievert-XXXXXX.md")
rm -f "$page" "$SIEVERT_JUNIT" "$SIEVERT_SARIF"  # an answer of an earlier run is none
arguments=(--policy "$SIEVERT_POLICY" --junit "$SIEVERT_JUNIT" --sarif "$SIEVERT_SARIF" --quick)
if [ "$SIEVERT_EXACT" != true ]; then
  arguments+=(--share)
fi
if [ -n "$SIEVERT_QUASI" ]; then
  arguments+=(--quasi "$SIEVERT_QUASI")
fi
if [ -n "$SIEVERT_SENSITIVE" ]; then
  arguments+=(--sensitive "$SIEVERT_SENSITIVE")
fi
read -r -a more <<< "$SIEVERT_ARGUMENTS"

# Names of columns that look like commands of the runner are none.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
sievert assess "${arguments[@]}" ${more[@]+"${more[@]}"} --markdown "$page" -- "$SIEVERT_DATA"
code=$?
echo "::$token::"
# An answer is what this run wrote: --help ends with 0 too.
if [ "$code" -le 1 ] && ! { [ -s "$SIEVERT_JUNIT" ] && [ -s "$SIEVERT_SARIF" ]; }; then
  code=2
fi

met=
if [ "$code" -le 1 ]; then
  met=$([ "$code" -eq 0 ] && echo true || echo false)
  python3 "$GITHUB_ACTION_PATH/annotate.py" "$SIEVERT_SARIF" "$SIEVERT_POLICY"
  cat "$page" >> "$GITHUB_STEP_SUMMARY"
else
  echo "::error title=Sievert::no answer: exit code $code"
fi
rm -f "$page"
printf 'met=%s\ncode=%s\n' "$met" "$code" >> "$GITHUB_OUTPUT"
exit "$code"
