#!/usr/bin/env bash
# End with dpverify's exit code, unless the run is only to tell. Reads FAIL and EXIT_CODE.
set -euo pipefail

case $FAIL in
    true) exit "$EXIT_CODE" ;;
    false) ;;
    *)
        echo "::error::fail: '$FAIL' is neither true nor false." >&2
        exit 2
        ;;
esac
