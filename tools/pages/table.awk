# The texts of `ferry help` and of `ferry help COMMAND` as a table, fields separated by tabs:
#     command NAME SUMMARY                     all commands, in the order of the overview
#     text LINE                                a line of the overview after them, or of the command's help
#     about NAME SYNOPSIS                      the help of this command begins
#     option NAME LETTER LONG VALUE HELP       an option of it; VALUE: FILE, a|b|c, another name, or nothing
#     example LINE                             an example of it
function line(kind, a, b, c, d, e) { print kind "\t" a "\t" b "\t" c "\t" d "\t" e }

/^usage: ferry COMMAND/ { overview = 1; next }
overview && /^       ferry / { next } # the rest of the usage
/^usage: ferry / {
    overview = examples = 0
    name = $3
    sub(/^usage: ferry [a-z]+ ?/, "")
    sub(/^\[OPTION[^ ]* ?/, "")
    line("about", name, $0)
    next
}
overview && /^  [a-z]/ {
    name = $1
    sub(/^ +[a-z]+ +/, "")
    line("command", name, $0)
    next
}
/^Examples:$/ { examples = 1; next }
examples && /^  / { line("example", substr($0, 3)); next }
!overview && /^  (-[a-z],|   ) --/ {
    letter = $1 ~ /^-[a-z],$/ ? substr($1, 2, 1) : ""
    match($0, /--[a-z-]+/)
    option = substr($0, RSTART + 2, RLENGTH - 2)
    rest = substr($0, RSTART + RLENGTH)
    match(rest, /^( [^ ]+)?  +/) # the value, if there is one, follows after one blank
    value = substr(rest, 1, RLENGTH)
    gsub(/ /, "", value)
    line("option", name, letter, option, value, substr(rest, RLENGTH + 1))
    next
}
{ line("text", $0) }
