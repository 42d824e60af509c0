# A deterministic linter: reports every line with a DEFECT comment of the tracked files as SARIF.
# The file linter.health beside this script breaks it.
health=$(cat "$(dirname "$0")/linter.health" 2>/dev/null)
[ "$health" = "crash" ] && exit 3
[ "$health" = "empty" ] && exit 0
printf '{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"defects"}},"results":['
git ls-files -z | xargs -0 awk '
    / # DEFECT / {
        split(substr($0, index($0, "# DEFECT ") + 9), word, " ")
        text = substr($0, index($0, " D" substr(word[3], 2) " ") + 1)
        score["critical"] = "9.0"; score["warning"] = "5.0"; score["suggestion"] = "2.0"
        level["critical"] = "error"; level["warning"] = "warning"; level["suggestion"] = "note"
        printf "%s{\"ruleId\":\"%s\",\"level\":\"%s\",\"properties\":{\"security-severity\":\"%s\"},\"message\":{\"text\":\"%s\"},", comma, word[2], level[word[1]], score[word[1]], text
        printf "\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"%s\"},\"region\":{\"startLine\":%d,\"startColumn\":3}}}]}", FILENAME, FNR
        comma = ","
    }'
printf ']}]}\n'
