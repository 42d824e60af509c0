#!/bin/sh
# A worker that commits, says that all is well, and leaves no result.
set -eu
cat >/dev/null
echo "fn mended() {}" >mended.rs
git add mended.rs
git commit --quiet --message "Mend it"
echo "outcome: done"
