/* Marks the ends of sentences, for compare.py: reads lines "LANGUAGE<tab>TEXT" and prints each text with "‖" after
 * every sentence but the last. "\n" and "\\" stand for a line end and a backslash. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/sentences.h"

static size_t unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0' && *from != '\n'; from++) {
        const bool escaped = *from == '\\' && from[1] != '\0';
        if (escaped) from++;
        *to++ = escaped && *from == 'n' ? '\n' : *from;
    }
    return (size_t)(to - text);
}

static void print(ferry_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '\n')
            fputs("\\n", stdout);
        else if (text.data[i] == '\\')
            fputs("\\\\", stdout);
        else
            putchar(text.data[i]);
}

static size_t skip_space(ferry_view text, size_t at)
{
    uint32_t c;
    for (size_t after = at; after < text.size && ferry_utf8_next(text, &after, &c) && ferry_utf8_is_space(c);)
        at = after;
    return at;
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        char *tab = strchr(line, '\t');
        if (tab == NULL) return 1;
        *tab = '\0';
        const ferry_view text = {tab + 1, unescape(tab + 1)};
        size_t printed = 0;
        for (size_t at = skip_space(text, 0); at < text.size; at = skip_space(text, at)) {
            if (printed > 0) fputs("‖", stdout);
            at = ferry_sentence_end(text, at, ferry_sentence_language_find(line));
            print((ferry_view){text.data + printed, at - printed});
            printed = at;
        }
        print((ferry_view){text.data + printed, text.size - printed});
        putchar('\n');
    }
    free(line);
    return 0;
}
