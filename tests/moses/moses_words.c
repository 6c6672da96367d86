/* Moses' words, for compare.py: reads lines "KIND LANGUAGE TEXT", the text in hexadecimal, and prints what becomes of
 * it the same way. Kinds: "words", "fsmt" (words as FSMT has them), "text" (of words). */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/moses/moses.h"

static size_t read_digits(char *text)
{
    size_t size = 0;
    for (; ferry_hex_digit(text[2 * size]) >= 0; size++)
        text[size] = (char)(ferry_hex_digit(text[2 * size]) * 16 + ferry_hex_digit(text[2 * size + 1]));
    return size;
}

int main(void)
{
    char *line = NULL, kind[8], language[16];
    size_t capacity = 0;
    ferry_string output = {0};
    ferry_error error;
    int begin;
    while (getline(&line, &capacity, stdin) > 0) {
        ferry_moses *moses;
        if (sscanf(line, "%7s %15s %n", kind, language, &begin) != 2) return 1;
        const ferry_view code = ferry_text_view(language), text = {line + begin, read_digits(line + begin)};
        const bool fsmt = strcmp(kind, "fsmt") == 0;
        const ferry_moses_config config = {code, code, .fsmt = fsmt};
        if (ferry_moses_create(&config, &moses, &error) != FERRY_OK) return 1;
        if ((strcmp(kind, "text") == 0 ? ferry_moses_detokenize : ferry_moses_tokenize)(moses, text, &output, NULL,
                                                                                        &error) != FERRY_OK)
            return 1;
        for (size_t i = 0; i < output.size; i++) printf("%02x", (unsigned char)output.data[i]);
        putchar('\n');
        ferry_moses_destroy(moses);
    }
    free(output.data);
    free(line);
    return 0;
}
