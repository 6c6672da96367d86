# Bash's completion, from the table of table.awk.
function words(list) { gsub(/\|/, " ", list); return list }

BEGIN { FS = "\t" }
$1 == "command" { commands = commands " " $2 }
$1 == "about" {
    name = $2
    takes = $3 ~ /^[a-z|]+\|[a-z|]+/ ? "_ferry_words '" words(substr($3, 1, match($3 " ", /[^a-z|]/) - 1)) "' || _ferry_files" : \
            $3 ~ /FILE|MODEL|SOURCE/ ? "_ferry_files" : $3 ~ /COMMAND/ ? "_ferry_words '" substr(commands, 2) "'" : ""
    if (takes != "") operands = operands "    " name ") " takes " ;;\n"
}
$1 == "option" {
    options[name] = options[name] " --" $4
    pattern = name ":--" $4 ($3 != "" ? " | " name ":-" $3 : "")
    if ($5 == "FILE") values = values "    " pattern ") _ferry_files; return ;;\n"
    else if ($5 ~ /\|/) values = values "    " pattern ") _ferry_words '" words($5) "'; return ;;\n"
    else if ($5 != "") values = values "    " pattern ") return ;;\n"
}
END {
    print "# bash completion for ferry, made from its help"
    print "_ferry_words()\n{"
    print "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\")"
    print "    [ ${#COMPREPLY[@]} -gt 0 ]\n}"
    print "_ferry_files()\n{"
    print "    compopt -o filenames 2> /dev/null"
    print "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n}"
    print "_ferry()\n{"
    print "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}"
    print "    # --NAME=VALUE comes as three words."
    print "    if [ \"$current\" = = ]; then"
    print "        current="
    print "    elif [ \"$before\" = = ]; then"
    print "        before=${COMP_WORDS[COMP_CWORD - 2]}"
    print "    fi"
    print "    COMPREPLY=()"
    print "    if [ \"$COMP_CWORD\" -eq 1 ]; then"
    print "        _ferry_words '" substr(commands, 2) " --version'"
    print "        return\n    fi"
    print "    case $command:$before in\n" values "    esac"
    print "    case $current:$command in"
    for (name in options) print "    -*:" name ") _ferry_words '" substr(options[name], 2) "'; return ;;" | "sort"
    close("sort")
    print "    esac"
    print "    case $command in\n" operands "    esac"
    print "}\ncomplete -F _ferry ferry"
}
