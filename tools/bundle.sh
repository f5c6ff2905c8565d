#!/usr/bin/env bash
# What an auditor needs to check certificates without a network, in build/bundle; then install it in a clean environment and check with it.
# Reads PYTHON, PLATFORMS (of pip, besides this machine's own; such as macosx_11_0_arm64 win_amd64), FLINT (the requirement) and SIGN.
set -euo pipefail
cd "$(dirname "$0")/.."
bundle=build/bundle
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -rf "$bundle"
mkdir -p "$bundle"
cp build/dist/dpverify-*.whl "$bundle"
cp tools/bundle.md "$bundle/README.md"

# One wheel of python-flint for every Python that has one, here and on every platform that is named.
for version in 3.11 3.12 3.13 3.14; do
    for platform in "" ${PLATFORMS:-}; do
        "$PYTHON" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version "$version" \
            ${platform:+--platform "$platform"} --dest "$bundle" "$FLINT" 2>"$scratch/why" ||
            echo "not in the bundle: python-flint for Python $version${platform:+ on $platform}: $(tail -n 1 "$scratch/why")" >&2
    done
done
tools/sums.sh "$bundle"

# Nothing but the bundle: no index, no settings of pip, no working directory of ours.
"$PYTHON" -m venv "$scratch/venv"
PIP_CONFIG_FILE=/dev/null "$scratch/venv/bin/python" -m pip --isolated --quiet --disable-pip-version-check install \
    --no-index --no-deps --find-links "$bundle" dpverify python-flint
valid=$(find reports -name '*.certs.json' | LC_ALL=C sort | sed -n 1p)
sed '0,/"verdict": "PROVED"/s//"verdict": "REFUTED"/' "$valid" >"$scratch/forged.certs.json"
cp "$valid" "$scratch/valid.certs.json"
(cd "$scratch" && env -u PYTHONPATH venv/bin/python -P -m dpverify.kernel valid.certs.json)
if (cd "$scratch" && env -u PYTHONPATH venv/bin/python -P -m dpverify.kernel forged.certs.json) >/dev/null 2>&1; then
    echo "the bundle accepts a certificate whose verdict was changed" >&2
    exit 1
fi
(cd "$bundle" && sha256sum --quiet --check SHA256SUMS)
echo "in $bundle:" && ls "$bundle"
