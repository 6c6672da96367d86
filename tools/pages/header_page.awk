# ferry.3, from ferry.h: its first comment, then each declaration with the comment before it. The comments of the
# header are plain text. (Doxygen reads comments of its own form only, and c2man is no longer packaged.)
function words(text)
{
    gsub(/[ \n]+/, " ", text)
    gsub(/^ | $/, "", text)
    return roff(text)
}
function bold(text) { return ".B " roff(text) }
# Adds a line of a declaration; the first one begins a hanging paragraph.
function declare(text)
{
    if (text ~ /^[a-z]/) declaration = declaration (declaration != "" ? "\n" : "") ".HP 4"
    declaration = declaration "\n" bold(text)
}
# Prints the declaration and what is said about it.
function finish()
{
    if (declaration != "") {
        if (fresh) sub(/^.HP 4\n/, "", declaration)
        fresh = 0
        print declaration
        if (comment != "") print ".PP\n" words(comment)
        if (members != "") print members
    }
    declaration = members = comment = ""
}
# A member with what is said about it.
function member(text, about)
{
    sub(/^ +/, "", text)
    members = members (members != "" ? "\n" : "") ".TP\n" bold(text) "\n" (about != "" ? words(about) : "\\&")
}
# The text of a comment that begins in `text`, whose other lines are read.
function read_comment(text)
{
    sub(/.*\/\*+ ?/, "", text)
    while (text !~ /\*\//) {
        if ((getline next_line) <= 0) break
        sub(/^ *\* ?/, "", next_line)
        sub(/^\//, "*/", next_line)
        text = text "\n" next_line
    }
    sub(/ *\*\/.*/, "", text)
    return text
}
function print_introduction(text, lines, count, i, line, example, blank)
{
    count = split(text, lines, "\n")
    for (i = 2; i <= count; i++) {
        line = lines[i]
        if (line ~ /^    / && !example++) print ".nf"
        if (line !~ /^    / && example) { print ".fi"; example = 0 }
        if (line ~ /^    /) print roff(line)
        else if (line ~ /^- /) print ".IP \\(bu 2\n" roff(substr(line, 3))
        else if (line == "") blank = 1
        else {
            sub(/^ +/, "", line)
            if (blank) print ".PP"
            blank = 0
            print roff(line)
        }
    }
}

BEGIN {
    print ".TH FERRY 3 \"\" \"ferry " version "\" \"Library Functions Manual\""
}
NR == 1 {
    introduction = read_comment($0)
    title = introduction
    sub(/\n.*/, "", title)
    sub(/^Ferry: /, "", title)
    sub(/\.$/, "", title)
    print ".SH NAME\nferry \\- " roff(title)
    print ".SH SYNOPSIS\n.B #include <ferry.h>\n.PP\n.B cc\n.I file.c\n.B $(pkg\\-config \\-\\-cflags \\-\\-libs ferry)"
    print ".SH DESCRIPTION"
    print_introduction(introduction)
    next
}
/^\/\* ---- .* ---- \*\/$/ {
    finish()
    gsub(/^\/\* ---- | ---- \*\/$/, "")
    print ".SH " toupper($0)
    fresh = 1
    started = 1
    next
}
!started { next }
/^\/\*/ { finish(); comment = read_comment($0); next }
/^#/ { comment = ""; next }
/^typedef (enum|struct) [a-z_]+ \{$/ {
    declare($0 " ...")
    inside = 1
    next
}
inside && /^}/ {
    declare($0)
    inside = 0
    finish()
    next
}
inside && /^ +\/\*/ { before = read_comment($0); next }
inside {
    text = $0
    about = text ~ /\/\*/ ? read_comment(text) : before
    before = ""
    sub(/ *\/\*.*/, "", text)
    sub(/,$/, "", text)
    member(text, about)
    next
}
/^$/ { finish(); next }
/^}|^extern/ { next }
{
    sub(/^FERRY_API /, "")
    sub(/^ +/, " ")
    declare($0)
}
END { finish(); print ".SH SEE ALSO\n.BR ferry (1)" }
