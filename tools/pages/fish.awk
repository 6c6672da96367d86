# fish's completion, from the table of table.awk.
function quoted(text) { gsub(/[\\']/, "\\\\&", text); return "'" text "'" }
function words(list) { gsub(/\|/, " ", list); return quoted(list) }

BEGIN {
    FS = "\t"
    print "# fish completion for ferry, made from its help"
    print "function __ferry_command"
    print "    set -l words (commandline -opc)"
    print "    test (count $words) -gt 1; and test $words[2] = $argv[1]\nend"
    first = "complete -c ferry -n 'test (count (commandline -opc)) -eq 1' -f"
    print first " -l version -d 'print the version'"
}
$1 == "command" {
    print first " -a " $2 " -d " quoted($3)
    commands = commands " " $2
}
$1 == "about" {
    name = $2
    start = "complete -c ferry -n '__ferry_command " name "'"
    if ($3 ~ /^[a-z|]+\|[a-z|]+/) print start " -a " words(substr($3, 1, match($3 " ", /[^a-z|]/) - 1))
    else if ($3 ~ /COMMAND/) print start " -f -a " quoted(substr(commands, 2))
    else if ($3 !~ /FILE|MODEL|SOURCE/) print start " -f"
}
$1 == "option" {
    kind = $5 == "" ? "" : $5 == "FILE" ? " -r -F" : $5 ~ /\|/ ? " -x -a " words($5) : " -x"
    print start ($3 != "" ? " -s " $3 : "") " -l " $4 kind " -d " quoted($6)
}
