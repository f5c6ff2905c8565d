#!/usr/bin/env bash
# Verify, audit and report. dpverify's exit code becomes an output, so that what it found is told before the run fails with it.
# Reads PATHS (one a line), PROFILE, BASELINE, AUDIT, REPORT and what code.sh reads; writes exit-code, report, sarif-file and markdown-file to
# GITHUB_OUTPUT.
set -euo pipefail

case $AUDIT in
    true) arguments=(--audit) ;;
    false) arguments=(--no-audit) ;;
    *)
        echo "::error::audit: '$AUDIT' is neither true nor false." >&2
        exit 2
        ;;
esac
source "$GITHUB_ACTION_PATH/tools/action/code.sh"
if [ "$CODE" = false ]; then arguments+=(--no-code); fi
case $REPORT in
    "" | *$'\n'*)
        echo "::error::report: give the name of a folder, on one line." >&2
        exit 2
        ;;
esac
if [ -n "$PROFILE" ]; then arguments+=(--profile "$PROFILE"); fi
if [ -n "$BASELINE" ]; then arguments+=(--baseline "$BASELINE"); fi
arguments+=(-o "$REPORT" --format sarif --format markdown --format json --)
while IFS= read -r path; do
    if [ -n "$path" ]; then arguments+=("$path"); fi
done <<<"$PATHS"

rm -f -- "$REPORT"/results.{sarif,md,json} # of an earlier run, which would be taken for this one's
code=0
dpverify report "${arguments[@]}" || code=$?
{
    echo "exit-code=$code"
    echo "report=$REPORT"
    if [ -f "$REPORT/results.sarif" ]; then echo "sarif-file=$REPORT/results.sarif"; fi
    if [ -f "$REPORT/results.md" ]; then echo "markdown-file=$REPORT/results.md"; fi
} >>"$GITHUB_OUTPUT"
