# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Markdown: in the program. (tests/data/documents/markdown.cases: what stays, what is escaped; check_markdown.py: another reader.)

# expect_markdown SOURCE EXPECTED (printf's escapes)
expect_markdown()
{
    expect_success_with "$1" translate --format markdown
    expect_silence
    expect_out "$2"
}

test_markdown_blocks()
{
    expect_markdown '# Hello!\n\n> - Hello!\n\n1. How are you?\n\n| Hello! |\n|:--|\n| How are you? |\n\nHello!\n======\n' \
        '# Hallo!\n\n> - Hallo!\n\n1. Wie geht es dir?\n\n| Hallo! |\n|:--|\n| Wie geht es dir? |\n\nHallo!\n======\n'
    expect_markdown '## 2. Hello! {#a}\n\n- [x] Hello!\n' '## 2. Hallo! {#a}\n\n- [x] Hallo!\n'
}

# Wrapped lines are one text, and begin as before.
test_markdown_lines()
{
    expect_markdown '> I do not\n> know where\n> Tom is.\n' '> Ich weiß nicht, wo Tom ist.\n'
    run_with '> - I do not know where Tom is. I do not know where Tom is.\n>   I do not know where Tom is.\n' \
        translate --format markdown
    expect_status 0
    expect_lines out 2
    expect_match '^> - .{50,76}$' '^>   [^ ].*\.$'
}

test_markdown_spans()
{
    expect_markdown 'I like **red** houses.\n' 'Ich mag **rote** Häuser.\n'
    expect_markdown 'I like [red](a_(b) "The house is old.") houses.\n' 'Ich mag [rote](a_(b) "Das Haus ist alt.") Häuser.\n'
    expect_markdown 'I like <b class="x">red</b> houses.\n' 'Ich mag <b class="x">rote</b> Häuser.\n'
    expect_success_with 'I like ~~red~~ *big* houses, `red` and [red]. I like <https://a.b/>,\n![red](a.png) &copy; and [it][red][^1].\n\n[red]: /a\n' \
        translate --format markdown
    expect_match '~~.*~~' '\*[^*]*\*' '`red`' '\[red\]\.' '<https://a\.b/>' '!\[[^]]+\]\(a\.png\)' '&copy;' '\]\[red\]' \
        '\[\^1\]' '^\[red\]: /a$'
}

# What the model writes does not become markup; what was escaped is read as text.
test_markdown_escapes()
{
    expect_success_with 'The price is 5\\* and the name is a\\_b, and 1\\. is the first.\n' translate --format markdown
    expect_no_match '[^\\]\*|_[^a-z]'
    expect_success_with '\\# Hello!\n\n\\- Hello!\n\n1\\. Hello!\n' translate --format markdown
    expect_no_match '^(#|-|[0-9]+\.) '
}

test_markdown_by_name()
{
    printf 'Hello!\n' > a.MD
    expect_success translate -i a.MD
    expect_message 'a.MD: translated as markdown (--format lines: line by line)'
    expect_out 'Hallo!\n'
}
