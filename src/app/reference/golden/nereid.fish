# Completion of nereid and tritonserver for fish.
complete -c nereid -n 'not __fish_seen_subcommand_from serve check help' -f -a serve -d 'serve "all" of them'
complete -c nereid -n '__fish_seen_subcommand_from serve' -l help -d 'Print [this] text: all of it' -s h
complete -c tritonserver -l help -d 'Print [this] text: all of it' -s h
complete -c nereid -n '__fish_seen_subcommand_from serve' -l format -d 'It\'s the form; \\ is a backslash' -x -a 'text json'
complete -c tritonserver -l format -d 'It\'s the form; \\ is a backslash' -x -a 'text json'
complete -c nereid -n '__fish_seen_subcommand_from serve' -l file -d 'A file, $(not run)' -s o -r -F
complete -c tritonserver -l file -d 'A file, $(not run)' -s o -r -F
complete -c nereid -n '__fish_seen_subcommand_from serve' -l size -d '-1 = none' -x
complete -c tritonserver -l size -d '-1 = none' -x
complete -c nereid -n '__fish_seen_subcommand_from serve' -l on -d '\'yes\' or "no"' -x -a 'true false'
complete -c tritonserver -l on -d '\'yes\' or "no"' -x -a 'true false'
complete -c nereid -n 'not __fish_seen_subcommand_from serve check help' -f -a check -d 'check'
complete -c nereid -n '__fish_seen_subcommand_from check' -l url -d 'A server' -x
