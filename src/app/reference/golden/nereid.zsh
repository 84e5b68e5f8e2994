#compdef nereid tritonserver
# Completion of nereid and tritonserver for zsh.
_nereid() {
  local command=serve
  local -a commands=(
    'serve:serve "all" of them'
    'check:check'
    'help:list the commands'
  )
  if [[ ${words[1]:t} != tritonserver ]]; then
    if (( CURRENT == 2 )); then
      _describe command commands
      return
    fi
    command=${words[2]}
    shift words
    (( CURRENT-- ))
  fi
  case $command in
    serve)
      _arguments \
        '*--help[Print \[this\] text\: all of it]' \
        '*--format=[It'\''s the form; \\ is a backslash]:text|json:(text json)' \
        '*--file=[A file, $(not run)]:path:_files' \
        '*--size=[-1 = none]:integer:' \
        '*--on=['\''yes'\'' or "no"]:boolean:(true false)' \
        '*:file:_files'
      ;;
    check)
      _arguments \
        '*--url=[A server]:url:' \
        '*:file:_files'
      ;;
  esac
}
_nereid "$@"
