#!/usr/bin/env bash
# Install the wheel and the source archive of build/dist in clean environments of every Python from 3.11 to 3.14 that is found, and use them
# from a directory that is not the checkout. PYTHONS names the interpreters in place of those that are found.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The first interpreter of a version that makes environments: by its name, or where pyenv keeps it.
find_python() {
    local candidate
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
        if "$candidate" -c "import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

use() {
    local dpverify=$1/bin/dpverify where
    rm -rf "$scratch/elsewhere"
    mkdir "$scratch/elsewhere"
    cd "$scratch/elsewhere"
    cp "$root/specs/student_t.toml" my_claims.toml
    "$dpverify" --help >/dev/null
    echo "by name:" && "$dpverify" verify student_t --no-cache
    echo "by file:" && "$dpverify" verify my_claims.toml --certificates certificates --no-cache
    echo "the certificates:" && "$dpverify" check certificates/*.cert.json
    echo "a new project:" && (mkdir project && cd project && "$dpverify" init && "$dpverify" verify && "$dpverify" audit)
    where=$("$1/bin/python" -c 'import dpverify; print(dpverify.__file__)')
    case $where in
        "$scratch"/*) echo "used: the installed package" ;;
        *) echo "used $where, not the installed package" >&2; exit 1 ;;
    esac
}

pythons=()
for version in 3.11 3.12 3.13 3.14; do
    if [ -n "${PYTHONS:-}" ]; then break; fi
    if python=$(find_python "$version"); then pythons+=("$python"); else echo "== not tried: Python $version, which is not on this machine"; fi
done
for python in ${PYTHONS:-"${pythons[@]}"}; do
    echo "== the wheel, $("$python" --version)"
    venv=$scratch/venv
    rm -rf "$venv"
    "$python" -m venv "$venv"
    pip=("$venv/bin/python" -m pip --quiet --disable-pip-version-check)
    "${pip[@]}" install "$root"/build/dist/dpverify-*.whl
    use "$venv" </dev/null
    echo "== the source archive, $("$python" --version)"
    "${pip[@]}" install --force-reinstall --no-deps "$root"/build/dist/dpverify-*.tar.gz
    use "$venv" </dev/null
done
