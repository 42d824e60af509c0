#!/usr/bin/env bash
# The dispatch pass that dev-loop scripts make with curl and jq: rules 0 to 11 over all open pulls, one SPAWN at most.
# usage: dev-loop-dispatch.sh <project.yaml>      DRY_RUN=1 writes nothing
set -euo pipefail

CONFIG=${1:?a project file}
[[ -r $CONFIG ]] || { echo "no config: $CONFIG" >&2; exit 2; }
field() { sed -n "s/^ *$1: *//p" "$CONFIG" | head -n 1; }
REPO=$(field repo) API=$(field api_base) BOT=$(field user) ASSIGN=$(field assign)
WIP=$(field wip) READY=$(field ready)
TOKEN=$(cat "$(dirname "$CONFIG")/$(field token_path)")
mapfile -t BOTS < <(field review_bots | tr -d '[],' | tr ' ' '\n')
DRY_RUN=${DRY_RUN:-0} SPAWNED=0 ACTIVE_WIP=0 OPEN=0

api() { curl -sf -H "Authorization: token $TOKEN" "$API/repos/$REPO/$1"; }
# Every page of a list, as one list.
api_all() {
  local page=1 rows all='' sep='?'
  [[ $1 == *\?* ]] && sep='&'
  while :; do
    rows=$(api "$1${sep}page=$page&limit=50")
    all+=$rows
    [[ $(jq length <<<"$rows") -lt 50 ]] && break
    page=$((page + 1))
  done
  if [[ $page == 1 ]]; then printf '%s' "$all"; else jq -cs 'add' <<<"$all"; fi
}
write() {
  [[ $DRY_RUN == 1 ]] && return 0
  curl -sf -X "$1" -H "Authorization: token $TOKEN" -H 'Content-Type: application/json' -d "$3" "$API/repos/$REPO/$2" >/dev/null
}
spawn() { # type number sha
  [[ $SPAWNED == 1 ]] && return 0
  write POST "issues/$2/labels" "{\"labels\":[$WIP]}"
  SPAWNED=1
  echo "SPAWN:$1:$2:$3"
}
# Whether the bot user wrote a fix plan for this head.
planned() { jq -e --arg user "$BOT" --arg plan "Fix plan for $sha" 'any(.[]; .user.login == $user and (.body | contains($plan)))' <<<"$comments" >/dev/null; }

pulls=$(api_all 'pulls?state=open' | jq -c 'sort_by(.number)[]')
while IFS= read -r pull; do
  [[ -n $pull ]] || continue
  OPEN=$((OPEN + 1))
  IFS=$'\t' read -r n sha mergeable assigned < <(jq -r --arg who "$ASSIGN" '[.number, .head.sha, .mergeable, any(.assignees // [] | .[]; .login == $who)] | @tsv' <<<"$pull")
  short=${sha:0:8}

  # The state of the pull, all of it from the interface.
  labels=$(api "issues/$n/labels")
  reviews=$(api_all "pulls/$n/reviews")
  status=$(api "commits/$sha/status" | jq -r 'if .state == "" then "unknown" else .state end')
  comments=$(api "issues/$n/comments")
  # Servers have no list of a pull's inline comments: those of each review are asked for.
  inline='[]'
  for review in $(jq -r '.[] | select(.comments_count > 0) | .id' <<<"$reviews"); do
    inline=$(jq -cs 'add' <<<"$inline$(api "pulls/$n/reviews/$review/comments")")
  done

  # Rule 0: a stale lock goes, a fresh one keeps new issues waiting.
  if jq -e --argjson wip "$WIP" 'any(.[]; .id == $wip)' <<<"$labels" >/dev/null; then
    since=$(api_all "issues/$n/timeline" | jq -r --argjson wip "$WIP" '[.[] | select(.type == "label" and .body == "1" and .label.id == $wip)] | last | .created_at')
    if (($(date +%s) - $(date -d "$since" +%s) > 3600)); then write DELETE "issues/$n/labels/$WIP" ''; else ACTIVE_WIP=1; fi
  fi

  # Rule 2: somebody's latest verdict asks for changes.
  if jq -e '[.[] | select(.state == "APPROVED" or .state == "REQUEST_CHANGES")] | group_by(.user.login) | any(.[]; last.state == "REQUEST_CHANGES")' <<<"$reviews" >/dev/null; then
    spawn findings "$n" "$sha"; continue
  fi
  # Rule 3: it does not merge.
  if [[ $mergeable == false ]]; then spawn rebase "$n" "$sha"; continue; fi
  # Rule 4: checks fail.
  if [[ $status == failure || $status == error ]]; then
    planned || spawn ci-fix "$n" "$sha"
    continue
  fi
  # Rule 5: a bot has not spoken.
  missing=0
  for bot in "${BOTS[@]}"; do
    jq -e --arg mark "<!-- review-bot:$bot -->" 'any(.[]; .body | contains($mark))' <<<"$reviews" >/dev/null || missing=1
  done
  [[ $missing == 1 ]] && continue
  # Rule 6: checks run.
  [[ $status == pending || $status == unknown ]] && continue
  # Rule 7: the self-review.
  own=$(jq -r --arg user "$BOT" --arg mark "Self-review against $sha" '[.[] | select(.user.login == $user and (.body | contains($mark)))] | last | .body // ""' <<<"$comments")
  if [[ -z $own ]]; then spawn self-review "$n" "$sha"; continue; fi
  if [[ $own == *"Assessment: ⚠️"* ]]; then
    planned || spawn sr-fix "$n" "$sha"
    continue
  fi
  [[ $own == *"Assessment: ✅ Clean"* ]] || continue
  # Rule 8: findings of approving bots that no fix plan names.
  plans=$(jq -r --arg user "$BOT" --arg plan "Fix plan for $sha" '[.[] | select(.user.login == $user and (.body | contains($plan))) | .body] | join("\n")' <<<"$comments")
  open=0
  for finding in $(jq -r --arg at "Evaluated against $short" '.[] | select(.state == "APPROVED" and (.body | contains($at))) | .body | scan("(?m)^\\| *([0-9]+) *\\|") | .[0]' <<<"$reviews"); do
    [[ $plans == *"Finding #$finding"* ]] || open=1
  done
  if [[ $open == 1 ]]; then
    planned || spawn address-feedback "$n" "$sha"
    continue
  fi
  # Rule 9: inline comments that nobody resolved or answered. Answers stand on the same line of the same review.
  if jq -e '[.[] | select(.resolver == null)] | group_by([.pull_request_review_id, .path, .position]) | any(.[]; length == 1)' <<<"$inline" >/dev/null; then
    planned || spawn address-feedback "$n" "$sha"
    continue
  fi
  # Rule 10: every bot looked at this head, and the human has it not yet.
  current=1
  for bot in "${BOTS[@]}"; do
    jq -e --arg mark "<!-- review-bot:$bot -->" --arg at "Evaluated against $short" 'any(.[]; .body | contains($mark) and contains($at))' <<<"$reviews" >/dev/null || current=0
  done
  [[ $current == 1 ]] || continue
  [[ $assigned == true ]] && continue
  write POST "issues/$n/labels" "{\"labels\":[$READY]}"
  write PATCH "issues/$n" "{\"assignees\":[\"$ASSIGN\"]}"
  echo "HANDOFF:$n"
done <<<"$pulls"

# Rule 11: the next issue, where nothing else is open.
if [[ $OPEN == 0 && $ACTIVE_WIP == 0 ]]; then
  issue=$(api_all 'issues?state=open&type=issues' | jq -r '[.[] | select((.assignees // []) == [])] | sort_by([any(.labels[]; .name == "bug") | not, .number]) | .[0].number // empty')
  if [[ -n $issue ]]; then
    write PATCH "issues/$issue" "{\"assignees\":[\"$BOT\"]}"
    echo "SPAWN:impl:$issue:"
  fi
fi
