#!/bin/sh
# A worker that does what it is told: a commit, a result. It runs like any agent, with the prompt on stdin.
set -eu
prompt=$(cat)
case $prompt in "# ⛔ ABSOLUTE CONSTRAINTS"*) ;; *) exit 9 ;; esac

field() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$REFEREE_JOB/job.json" | head -n 1; }
kind=$(field type)
result() {
    printf '{"schema":"referee/result-1","nonce":"%s","outcome":"%s","summary":"%s"%s}' \
        "$(field nonce)" "$1" "$2" "${3:-}" >"$REFEREE_JOB/result.json"
}

echo "SPAWN:impl:1: is what I print, and nobody reads it"
case $kind in
self-review)
    result done "read it" ',"selfReview":{"assessment":"clean"}'
    ;;
rebase)
    git rebase --quiet --strategy-option=theirs base
    result done "rebased"
    ;;
impl)
    mkdir -p src
    echo "fn begun() {}" >src/begun.rs
    git add src
    git commit --quiet --message "Begin it"
    result done "begun" ',"pull":{"title":"Begin it","body":"It was asked for."}'
    ;;
*)
    mkdir -p src
    echo "fn mended() {} // $kind $(git rev-parse HEAD)" >src/mended.rs
    git add src
    git commit --quiet --message "Mend it"
    answers=
    head=$(git rev-parse HEAD)
    proof="\"commitSha\":\"$head\",\"verification\":[{\"command\":\"true\",\"status\":\"passed\",\"headSha\":\"$head\"}]"
    for thread in $(sed -n 's/^ *"threadId": "\([^"]*\)",*$/\1/p' "$REFEREE_JOB/threads.json"); do
        answers="$answers${answers:+,}{\"thread\":\"$thread\",\"classification\":\"valid\",\"fixSummary\":\"mended\",$proof}"
    done
    result done "mended" ",\"answers\":[$answers]"
    ;;
esac
