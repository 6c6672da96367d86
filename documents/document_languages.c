#include "document_languages.h"

#include "characters.h"
#include "html_tags.h"

bool ferry_language_has_name(const ferry_language *language, ferry_view name)
{
    const ferry_view tag = ferry_text_view(language->tag), names = ferry_text_view(language->names);
    if (is_named(name, language->tag) || is_named(name, language->english)) return true;
    const size_t code = skip(tag, 0, is_letter, tag.size); /* "deu" of "deu_Latn" */
    if (ferry_html_tag_is_name(name, view_part(tag, 0, code))) return true;
    for (size_t at = 0, end; at < names.size; at = end + 1) {
        end = find_one_of(names, at, " ");
        if (ferry_html_tag_is_name(name, view_part(names, at, end))) return true;
    }
    return false;
}

const ferry_language *ferry_language_find(const ferry_model *model, const char *name, ferry_language_role role)
{
    const ferry_language *language;
    for (size_t i = 0; (language = ferry_model_language(model, i)) != NULL; i++)
        if (name != NULL ? ferry_language_has_name(language, ferry_text_view(name))
                         : (language->roles & (int)role) != 0)
            return language;
    return NULL;
}
