# Whether code of the project may run: CODE is true or false afterwards. A pull request from a fork may hold anybody's.
# Reads CODE (true, false or auto), PULL_REQUEST (its number, empty without one), HEAD (the repository that it comes from) and GITHUB_REPOSITORY.
# shellcheck shell=bash
case $CODE in
    true | false) ;;
    auto) if [ -n "$PULL_REQUEST" ] && [ "$HEAD" != "$GITHUB_REPOSITORY" ]; then CODE=false; else CODE=true; fi ;;
    *)
        echo "::error::run-code: '$CODE' is none of true, false and auto." >&2
        exit 2
        ;;
esac
