# Completion of nereid and tritonserver for bash.
# The values of the flag $2 of the command $1; the word to complete is $3.
_nereid_values() {
  local choices=
  case "$1 $2" in
    'serve --format') choices='text json' ;;
    'serve --file') choices=- ;;
    'serve --on') choices='true false' ;;
    *) return 1 ;;
  esac
  compopt +o nospace 2>/dev/null
  if [ "$choices" = - ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$3")
  else
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$3")
  fi
}

_nereid() {
  local command=serve flags= cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # "=" separates words: --flag=value is three of them.
  [ "$cur" != = ] || cur=
  if [ "$prev" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "${COMP_WORDS[0]##*/}" != tritonserver ]; then
    if [ "$COMP_CWORD" -eq 1 ]; then
      mapfile -t COMPREPLY < <(compgen -W "$_nereid_commands" -- "$cur")
      return
    fi
    command=${COMP_WORDS[1]}
  fi
  if [[ $prev == --* ]] && _nereid_values "$command" "$prev" "$cur"; then
    return
  fi
  case $command in
    serve) flags='--help --format= --file= --size= --on=' ;;
    check) flags='--url=' ;;
  esac
  if [[ $cur == -* ]]; then
    compopt -o nospace 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _nereid nereid tritonserver
_nereid_commands='serve check help'
