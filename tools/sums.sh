#!/usr/bin/env bash
# Checksums of all files of a folder in its SHA256SUMS, in the form that sha256sum --check reads. Where SIGN names a key of gpg, signed.
set -euo pipefail
cd "$1"
rm -f SHA256SUMS SHA256SUMS.asc
sums=$(find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum)
printf '%s\n' "$sums" >SHA256SUMS
if [ -n "${SIGN:-}" ]; then
    gpg --quiet --batch --yes --local-user "$SIGN" --armor --detach-sign SHA256SUMS
fi
