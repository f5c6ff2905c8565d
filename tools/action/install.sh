#!/usr/bin/env bash
# Install dpverify and whatever else is asked for. Reads VERSION, ALSO (one argument of pip a line),
# GITHUB_ACTION_PATH and what code.sh reads.
set -euo pipefail

case $VERSION in
    source) wanted=("$GITHUB_ACTION_PATH") ;;
    latest) wanted=(dpverify) ;;
    *[!0-9A-Za-z.!+]* | "")
        echo "::error::version: '$VERSION' is no version. Give a number such as 1.2.3, \"latest\" or \"source\"." >&2
        exit 2
        ;;
    *) wanted=("dpverify==$VERSION") ;;
esac
source "$GITHUB_ACTION_PATH/tools/action/code.sh"
if [ "$CODE" = false ]; then ALSO=; fi # to install a project runs its code
while IFS= read -r argument; do
    if [ -n "$argument" ]; then wanted+=("$argument"); fi
done <<<"$ALSO"
python -m pip install --disable-pip-version-check "${wanted[@]}"
