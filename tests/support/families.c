#include "families.h"

char *small_family(const char *name)
{
    return shared_file("models/huggingface-small/%s", name);
}

int32_t find_language(const ferry_model_languages *languages, const char *names)
{
    for (int32_t i = 0; i < languages->count; i++)
        if (has_text(ferry_texts_at(languages->names, (size_t)i), names)) return i;
    fail_msg("no language '%s'", names);
    return -1;
}

bool is_special(const ferry_model_text *text, int32_t id)
{
    for (int32_t i = 0; i < text->special_count; i++)
        if (text->special_ids[i] == id) return true;
    return false;
}
