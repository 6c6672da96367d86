#include "printable.h"

#include <string.h>

ferry_printable ferry_printable_view(ferry_view view)
{
    ferry_printable result;
    size_t limit = sizeof result.text - sizeof "...";
    size_t size = view.size < limit ? view.size : limit;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)view.data[i];
        result.text[i] = byte < 0x20 || byte == 0x7f ? '?' : view.data[i];
    }
    memcpy(result.text + size, "...", sizeof "...");
    if (size == view.size) result.text[size] = '\0';
    return result;
}
