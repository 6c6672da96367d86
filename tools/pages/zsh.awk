# zsh's completion, from the table of table.awk.
function quoted(text) { gsub(/'/, "'\\''", text); return text }
function escaped(text) { gsub(/[\[\]:]/, "\\\\&", text); return quoted(text) }
function choices(list) { gsub(/\|/, " ", list); return "(" list ")" }

BEGIN { FS = "\t"; print "#compdef ferry\n# zsh completion for ferry, made from its help" }
$1 == "command" { names = names (names != "" ? "|" : "") $2; commands = commands "    '" $2 ":" quoted($3) "'\n" }
$1 == "about" {
    if (name == "") {
        print "local -a commands\ncommands=(\n" commands ")"
        print "if (( CURRENT == 2 )); then\n    _describe command commands\n    _arguments '--version[print the version]'"
        print "    return\nfi"
        print "local command=$words[2]\nshift words\n(( CURRENT-- ))"
        print "case $command in"
    } else {
        print "    ;;"
    }
    name = $2
    print name ")\n    _arguments -s \\"
    if ($3 ~ /^[a-z|]+\|[a-z|]+/)
        print "        '1:what:" choices(substr($3, 1, match($3 " ", /[^a-z|]/) - 1)) "' \\"
    operand = $3 ~ /COMMAND/ ? "'1:command:" choices(names) "'" : $3 ~ /FILE|MODEL|SOURCE/ ? "'*:file:_files'" : $3 != "" ? "'*:text: '" : ""
    if (operand != "") print "        " operand " \\"
}
$1 == "option" {
    action = $5 == "FILE" ? ":file:_files" : $5 ~ /\|/ ? ":" $4 ":" choices($5) : $5 != "" ? ":" escaped($5) ": " : ""
    help = "[" escaped($6) "]"
    if ($3 != "") print "        '(-" $3 " --" $4 ")-" $3 (action != "" ? "+" : "") help action "' \\"
    print "        '" ($3 != "" ? "(-" $3 " --" $4 ")" : "") "--" $4 (action != "" ? "=" : "") help action "' \\"
    if ($4 == "help") print "        && return" # the last option of every command
}
END { print "    ;;\nesac" }
