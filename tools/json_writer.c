#include "json_writer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static void begin_element(ferry_json_writer *json, const char *key)
{
    if (json->follows) fputs(", ", json->out);
    if (key != NULL) fprintf(json->out, "\"%s\": ", key);
    json->follows = true;
}

void ferry_put_begin(ferry_json_writer *json, const char *key, char bracket)
{
    begin_element(json, key);
    fputc(bracket, json->out);
    json->follows = false;
}

void ferry_put_end(ferry_json_writer *json, char bracket)
{
    fputc(bracket, json->out);
    json->follows = true;
}

void ferry_put_number(ferry_json_writer *json, const char *key, double value)
{
    begin_element(json, key);
    if (isfinite(value))
        fprintf(json->out, "%.10g", value);
    else
        fputs("null", json->out);
}

void ferry_put_float(ferry_json_writer *json, const char *key, float value)
{
    char text[32];
    if (!isfinite(value)) {
        ferry_put_number(json, key, NAN);
        return;
    }
    for (int digits = 6; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    begin_element(json, key);
    fputs(text, json->out);
}

void ferry_put_text(ferry_json_writer *json, const char *key, ferry_text text)
{
    const ferry_view view = {text.data, text.size};
    begin_element(json, key);
    fputc('"', json->out);
    for (size_t at = 0; at < view.size;) {
        const size_t start = at;
        uint32_t c;
        if (!ferry_utf8_next(view, &at, &c))
            fputs("\\ufffd", json->out);
        else if (c == '"' || c == '\\')
            fprintf(json->out, "\\%c", (char)c);
        else if (ferry_is_printable(c))
            fwrite(view.data + start, 1, at - start, json->out);
        else if (c <= 0xFFFF)
            fprintf(json->out, "\\u%04x", c);
        else
            fprintf(json->out, "\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10), 0xDC00 + (c & 0x3FF));
    }
    fputc('"', json->out);
}

void ferry_put_string(ferry_json_writer *json, const char *key, const char *text)
{
    if (text != NULL)
        ferry_put_text(json, key, (ferry_text){text, strlen(text)});
    else
        ferry_put_number(json, key, NAN);
}
