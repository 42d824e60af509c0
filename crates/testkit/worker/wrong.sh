#!/bin/sh
# A worker that ends badly, in the way that its argument names: it exits, it never ends, or it touches a path.
set -eu
prompt=$(cat)
field() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$REFEREE_JOB/job.json" | head -n 1; }
result() {
    printf '{"schema":"referee/result-1","nonce":"%s","outcome":"done","summary":"all is well"}' "$(field nonce)" \
        >"$REFEREE_JOB/result.json"
}

case $1 in
exits)
    echo "out of credit" >&2
    exit 1
    ;;
hangs)
    # Whoever wants to see it die finds its number here.
    echo $$ >"${2:-/dev/null}"
    while :; do sleep 1; done
    ;;
touches)
    mkdir -p "$(dirname "$2")"
    echo "changed" >>"$2"
    git add --all
    git commit --quiet --message "Mend it"
    result
    ;;
waits)
    # Till the test has done what happens meanwhile.
    echo begun >"$2"
    while [ -e "$2" ]; do sleep 0.1; done
    echo "fn mended() {}" >mended.rs
    git add mended.rs
    git commit --quiet --message "Mend it"
    result
    ;;
*)
    echo "$1: ${#prompt} bytes were read for nothing" >&2
    exit 2
    ;;
esac
