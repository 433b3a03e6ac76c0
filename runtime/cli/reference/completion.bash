# The groups of the daemon that the line so far, or FIBOCAST_SOCKET, speaks of.
_fibocast_groups() {
  local choice=() i
  for ((i = 1; i + 1 < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in --socket | --rank | --dir) choice+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}") ;; esac
  done
  timeout 2 "${COMP_WORDS[0]}" group list --json "${choice[@]}" 2>/dev/null </dev/null |
    grep -o '"name":"[^"\\]*"' | sed 's/^"name":"//; s/"$//'
}

# Fills COMPREPLY with what of KIND begins with WORD.
_fibocast_reply() {
  local kind=$1 word=$2 line
  COMPREPLY=()
  case $kind in
    :none) return ;;
    :file) compopt -o filenames 2>/dev/null; set -- -f ;;
    :folder) compopt -o filenames 2>/dev/null; set -- -d ;;
    :group) set -- -W "$(_fibocast_groups)" ;;
    *) set -- -W "$kind" ;;
  esac
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$@" -- "$word")
}

_fibocast() {
  local path=${COMP_WORDS[0]##*/} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i
  [[ $path == fibocast-simulate ]] && path="fibocast simulate"
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ " ${_fibocast_commands[$path]-} " == *" ${COMP_WORDS[i]} "* ]] && path+=" ${COMP_WORDS[i]}"
  done
  if [[ -n ${_fibocast_values["$path $before"]-} ]]; then
    _fibocast_reply "${_fibocast_values["$path $before"]}" "$word"
  elif [[ $word == -* ]]; then
    _fibocast_reply "${_fibocast_flags[$path]-}" "$word"
  else
    _fibocast_reply "${_fibocast_commands[$path]-${_fibocast_positionals[$path]-:none}}" "$word"
  fi
}
complete -F _fibocast fibocast fibocast-simulate fibocastd
