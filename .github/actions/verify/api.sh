# Requests to GitHub with the token of the job; sourced by scripts that set `dir`, a directory of their own.
# shellcheck shell=bash

# Sends a request and prints the status, 000 without an answer. The answer is left in $dir/answer, its
# headers in $dir/headers. $1: method, $2: path, $3: name of a JSON document in $dir, if one is sent.
api() {
  local options=(
    --silent --request "$1" --output answer --dump-header headers --write-out '%{http_code}'
    --max-time 60 --max-filesize 50000000 --proto '=https,http'
    --header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28'
  )
  # A second POST would write twice.
  if [[ $1 == GET ]]; then
    options+=(--retry 3)
  fi
  if [[ -n ${3:-} ]]; then
    options+=(--header 'Content-Type: application/json' --data-binary "@$3")
  fi
  (
    # Relative names: curl of Windows does not know the directories of bash.
    cd "${dir:?}" || exit
    : >answer
    : >headers
    # Every user of the machine sees arguments, so the token is none.
    printf 'header = "Authorization: Bearer %s"\n' "$LOCKCTL_TOKEN" |
      curl "${options[@]}" --config - -- "$GITHUB_API_URL$2" || true
  )
}

# Prints what a filter of jq finds in the answer, a line each.
answered() {
  # jq of Windows ends lines with CR LF.
  jq --raw-output "$@" <"${dir:?}/answer" | tr -d '\r'
}

# Prints why a request failed. $1: status, $2: the permission that it needs.
refusal() {
  case $1 in
    '' | 000) echo "there is no answer from $GITHUB_API_URL" ;;
    401 | 403 | 404) echo "the token of the job lacks the permission \`$2\` (HTTP $1)" ;;
    *) echo "HTTP $1" ;;
  esac
}
