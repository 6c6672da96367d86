#include "elements.h"

#include "characters.h"

/* The HTML standard's, and those of its predecessors; of the kept ones also those of DocBook and Mallard, which are in
 * catalogs of manuals. */
static const struct {
    int kind;
    const char *names;
} elements[] = {
    {FERRY_ELEMENT_BLOCK,
     " address article aside blockquote body caption center colgroup datalist dd details dialog dir "
     "div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup "
     "html legend li main menu nav noscript ol optgroup option p search section select summary table "
     "tbody td template tfoot th thead title tr ul "},
    {FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_VOID, " br col frame hr "},
    {FERRY_ELEMENT_BLOCK | FERRY_ELEMENT_KEPT, " listing pre programlisting screen "},
    {FERRY_ELEMENT_LABEL, " applet audio button canvas label marquee object video "},
    {FERRY_ELEMENT_VOID, " area base basefont bgsound embed img input keygen link meta param source track "},
    {FERRY_ELEMENT_VOID | FERRY_ELEMENT_IN_WORD, " wbr "},
    {FERRY_ELEMENT_RAW | FERRY_ELEMENT_KEPT, " iframe noembed noframes plaintext script style textarea xmp "},
    {FERRY_ELEMENT_KEPT, " classname cmd code command computeroutput constant envar file filename function kbd literal "
                         "math replaceable rp rt samp svg sys systemitem tt userinput var varname "},
};

bool ferry_name_is_listed(ferry_view name, const char *names)
{
    char key[24] = " ";
    if (name.size == 0 || name.size + 3 > sizeof key) return false;
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        if (!is_letter(c) && !is_digit(c)) return false;
        key[i + 1] = is_capital(c) ? (char)(c | 32) : c;
    }
    key[name.size + 1] = ' ';
    return strstr(names, key) != NULL;
}

int ferry_element_find(ferry_view name)
{
    size_t i = 0;
    while (i < sizeof elements / sizeof *elements && !ferry_name_is_listed(name, elements[i].names)) i++;
    return i < sizeof elements / sizeof *elements ? elements[i].kind : 0;
}
