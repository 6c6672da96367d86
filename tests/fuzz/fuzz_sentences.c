/* Any bytes as a text, in each language that has rules of its own: sentences that follow each other, and end. */
#include "fuzz.h"

#include "base/utf8.h"
#include "tokenizer/sentences.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"", "en", "de", "fr", "es", "it", "pt", "ru", "hy", "el"};
    if (size == 0) return 0;
    const ferry_view text = {(const char *)data + 1, size - 1};
    const ferry_sentence_language *language =
        ferry_sentence_language_find(names[data[0] % (sizeof names / sizeof *names)]);
    for (size_t at = 0; at < text.size;) {
        const size_t begin = at;
        uint32_t c;
        if (ferry_utf8_next(text, &at, &c) && ferry_utf8_is_space(c)) continue;
        at = ferry_sentence_end(text, begin, language);
        if (at <= begin || at > text.size ||
            ferry_utf8_trim((ferry_view){text.data + begin, at - begin}).size != at - begin)
            __builtin_trap();
    }
    return 0;
}
