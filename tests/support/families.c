#include "families.h"

char *small_family(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "models/huggingface-small/%s", name);
    char *directory = shared_path(path);
    if (directory == NULL) not_run(name);
    return directory;
}

void convert_variant(const char *source, const edit *edits, size_t count, ferry_model_file *file)
{
    char *directory = variant(source, edits, count);
    convert(directory, FERRY_F32, file);
    free(directory);
}

int32_t find_language(const ferry_model_languages *languages, const char *names)
{
    for (int32_t i = 0; i < languages->count; i++)
        if (has_text(languages->names[i], names)) return i;
    fail_msg("no language '%s'", names);
    return -1;
}

bool is_special(const ferry_model_text *text, int32_t id)
{
    for (int32_t i = 0; i < text->special_count; i++)
        if (text->special_ids[i] == id) return true;
    return false;
}
