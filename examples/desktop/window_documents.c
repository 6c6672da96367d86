/* A document is chosen, then where its translation goes. */
#include "window.h"

#include <ferry_documents.h>
#include <string.h>

/* "text, html, …": what the library can read. */
static char *list_formats(void)
{
    GString *formats = g_string_new(ferry_document_format_name(0));
    for (size_t i = 1; ferry_document_format_name(i) != NULL; i++)
        g_string_append_printf(formats, ", %s", ferry_document_format_name(i));
    return g_string_free(formats, FALSE);
}

/* "manual.html" becomes "manual.de.html". */
static char *name_translation(const window *w, const char *path)
{
    const ferry_language *target = w->worker.target;
    char *name = g_path_get_basename(path), *ending = strrchr(name, '.');
    char *suggestion =
        g_strdup_printf("%.*s.%s%s", (int)(ending - name), name, target != NULL ? target->tag : "translation", ending);
    char *valid = g_filename_display_name(suggestion);
    g_free(suggestion);
    g_free(name);
    return valid;
}

static void on_document(window *w, int response, GtkFileChooser *chooser)
{
    if (response != GTK_RESPONSE_ACCEPT) return;
    GtkFileChooser *next = window_get(w, "translation_chooser");
    char *path = window_chosen(chooser);
    if (ferry_document_format_of(path) == NULL) {
        char *formats = list_formats();
        char *message = g_strdup_printf("%s: expected a document of one of the formats %s", path, formats);
        window_tell(w, message);
        g_free(message);
        g_free(formats);
    } else {
        GFile *folder = gtk_file_chooser_get_current_folder(chooser);
        char *name = name_translation(w, path);
        gtk_file_chooser_set_current_folder(next, folder, NULL);
        gtk_file_chooser_set_current_name(next, name);
        gtk_native_dialog_show(GTK_NATIVE_DIALOG(next));
        g_clear_object(&folder);
        g_free(name);
    }
    g_free(path);
}

static void on_translation(window *w, int response, GtkFileChooser *chooser)
{
    if (response != GTK_RESPONSE_ACCEPT) return;
    char *from = window_chosen(window_get(w, "document_chooser")), *to = window_chosen(chooser);
    char *message = g_strdup_printf("Translating %s", from);
    window_tell(w, message);
    window_want(w, JOB_DOCUMENT, from, to);
    g_free(message);
}

void documents_connect(window *w)
{
    char *formats = list_formats(), *tooltip = g_strdup_printf("Translate a document: %s", formats);
    gtk_widget_set_tooltip_text(window_get(w, "document"), tooltip);
    g_signal_connect_swapped(window_get(w, "document"), "clicked", G_CALLBACK(gtk_native_dialog_show),
                             window_get(w, "document_chooser"));
    g_signal_connect_swapped(window_get(w, "document_chooser"), "response", G_CALLBACK(on_document), w);
    g_signal_connect_swapped(window_get(w, "translation_chooser"), "response", G_CALLBACK(on_translation), w);
    g_free(formats);
    g_free(tooltip);
}
