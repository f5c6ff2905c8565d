# One comment on a pull request, known by its first line, and brought up to date by every run; jobs with a LABEL have one each.
label=${LABEL:-}
marker="<!-- dpverify ${label//[!A-Za-z0-9._-]/} -->"
body=$(mktemp)
{ echo "$marker"; cat -- "$REPORT/results.md"; } > "$body"
comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
query=".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id"
mine=$(gh api --paginate "$comments" --jq "$query" | sed -n 1p)
if [ -n "$mine" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$mine" --field "body=@$body"
else
  gh api --silent --method POST "$comments" --field "body=@$body"
fi
