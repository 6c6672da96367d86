# ferry.1, from the table of table.awk. (help2man reads one help text per page and knows no commands with options.)
BEGIN {
    FS = "\t"
    print ".TH FERRY 1 \"\" \"ferry " version "\" \"User Commands\""
    print ".SH NAME\nferry \\- translate text with Transformer models on this machine"
    print ".SH SYNOPSIS\n.B ferry\n.I command\n.RI [ option ...]\n.RI [ argument ...]"
    print ".br\n.B ferry\n.RI [ option ...]\n.IR text ..."
    print ".SH DESCRIPTION"
}
$1 == "command" { print ".TP\n.B ferry " roff($2) "\n" roff($3); fresh = 0 }
$1 == "about" {
    if (!commands++) print ".SH COMMANDS"
    name = $2
    print ".SS ferry " roff($2 " [OPTION...] " $3)
    fresh = 1
}
$1 == "text" && $2 == "" { ended = 1 }
$1 == "text" && $2 != "" {
    if (!fresh && (ended || $2 ~ /^(--)?[a-z]+( --[a-z]+)?: /)) print ".PP"
    fresh = ended = 0
    print roff($2)
}
$1 == "option" {
    value = $5 == "" ? "" : "\\ \\fI" roff($5) "\\fR"
    print ".TP\n" ($3 != "" ? "\\fB\\-" $3 "\\fR, " : "") "\\fB" roff("--" $4) "\\fR" value "\n" roff($6)
}
$1 == "example" { examples = examples (fresh_examples != name ? ".PP\n" : "") roff($2) "\n"; fresh_examples = name }
END {
    print ".SH EXAMPLES\n.nf\n" examples ".fi"
    print ".SH SEE ALSO\n.BR ferry (3)"
}
