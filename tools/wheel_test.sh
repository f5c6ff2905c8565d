#!/usr/bin/env bash
# Build the wheel, install it into an environment of its own, and use it from a directory that is not the checkout.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m venv "$scratch/venv"
pip=("$scratch/venv/bin/python" -m pip --quiet --disable-pip-version-check)
"${pip[@]}" wheel --no-deps --wheel-dir "$scratch/wheel" "$root"
"${pip[@]}" install "$scratch"/wheel/dpverify-*.whl

mkdir "$scratch/elsewhere"
cd "$scratch/elsewhere"
cp "$root/specs/student_t.toml" my_claims.toml
dpverify=$scratch/venv/bin/dpverify

"$dpverify" --help >/dev/null
echo "by name:" && "$dpverify" verify student_t
echo "by file:" && "$dpverify" verify my_claims.toml --certificates certificates
echo "the certificates:" && "$dpverify" check certificates/*.cert.json
echo "a new project:" && (mkdir project && cd project && "$dpverify" init && "$dpverify" verify && "$dpverify" audit)
where=$("$scratch/venv/bin/python" -c 'import dpverify; print(dpverify.__file__)')
case $where in
    "$scratch"/*) echo "used: the installed package" ;;
    *) echo "used $where, not the installed package" >&2; exit 1 ;;
esac
