#!/usr/bin/env bash
# Show the findings on the page of the run. Reads REPORT and EXIT_CODE; writes to GITHUB_STEP_SUMMARY.
set -euo pipefail

if [ -f "$REPORT/results.md" ]; then
    cat -- "$REPORT/results.md" >>"$GITHUB_STEP_SUMMARY"
else
    echo "dpverify ended with exit code $EXIT_CODE and wrote no report; the log of the step before says why." >>"$GITHUB_STEP_SUMMARY"
fi
