#include "language_names.h"

static const ferry_language_name language_names[] = {
#include "language_names.inc"
};

const ferry_language_name *ferry_language_name_at(size_t index)
{
    return index < sizeof language_names / sizeof *language_names ? &language_names[index] : NULL;
}

const ferry_language_name *ferry_language_name_find(ferry_view code)
{
    const ferry_language_name *row;
    for (size_t i = 0; code.size > 0 && (row = ferry_language_name_at(i)) != NULL; i++)
        if (ferry_same_letters(code, ferry_text_view(row->code)) ||
            ferry_same_letters(code, ferry_text_view(row->short_code)))
            return row;
    return NULL;
}
