/* The names of the model and of its languages, which two lists choose where there are several. */
#include "window.h"

static const struct {
    const char *choice, *label,
        *unknown; /* widgets: where there are several languages; else; and what that says of none */
    int role;
} sides[2] = {{"source_choice", "source_language", "Text", FERRY_LANGUAGE_SOURCE},
              {"target_choice", "target_language", "Translation", FERRY_LANGUAGE_TARGET}};

static const char *name_of(const ferry_language *language)
{
    return language->english[0] != '\0' ? language->english : language->tag;
}

static char *tag_of(const ferry_language *language)
{
    return g_strdup(language != NULL ? language->tag : "");
}

static int compare_names(gconstpointer a, gconstpointer b)
{
    return g_utf8_collate(name_of(*(const ferry_language *const *)a), name_of(*(const ferry_language *const *)b));
}

/* The languages of a side, by their names. */
static GPtrArray *list_side(const window *w, int side)
{
    const ferry_language *language;
    GPtrArray *list = g_ptr_array_new();
    for (size_t i = 0; (language = ferry_model_language(w->worker.model, i)) != NULL; i++)
        if (language->roles & sides[side].role) g_ptr_array_add(list, (gpointer)language);
    g_ptr_array_sort(list, compare_names);
    return list;
}

/* NULL: the model does not say. */
static const ferry_language *chosen(const window *w, int side)
{
    GPtrArray *list = list_side(w, side);
    const guint selected = gtk_drop_down_get_selected(window_get(w, sides[side].choice));
    const ferry_language *language = selected < list->len ? list->pdata[selected] : NULL;
    g_ptr_array_unref(list);
    return language;
}

static void on_choice(window *w)
{
    window_want(w, JOB_LANGUAGES, tag_of(chosen(w, 0)), tag_of(chosen(w, 1)));
}

static void show_side(window *w, int side, const ferry_language *language)
{
    GtkDropDown *choice = window_get(w, sides[side].choice);
    GtkLabel *label = window_get(w, sides[side].label);
    GPtrArray *list = list_side(w, side);
    GtkStringList *names = gtk_string_list_new(NULL);
    guint selected = GTK_INVALID_LIST_POSITION;
    for (guint i = 0; i < list->len; i++) gtk_string_list_append(names, name_of(list->pdata[i]));
    g_ptr_array_find(list, language, &selected);
    g_signal_handlers_block_by_func(choice, on_choice, w);
    gtk_drop_down_set_model(choice, G_LIST_MODEL(names));
    gtk_drop_down_set_selected(choice, selected);
    g_signal_handlers_unblock_by_func(choice, on_choice, w);
    gtk_label_set_text(label, language != NULL ? name_of(language) : sides[side].unknown);
    gtk_widget_set_visible(GTK_WIDGET(choice), list->len > 1);
    gtk_widget_set_visible(GTK_WIDGET(label), list->len <= 1);
    g_object_unref(names);
    g_ptr_array_unref(list);
}

static void show_pair(window *w, const ferry_language *source, const ferry_language *target)
{
    GtkWidget *swap = window_get(w, "swap");
    char *reason = NULL;
    show_side(w, 0, source);
    show_side(w, 1, target);
    if (source == NULL || target == NULL)
        reason = g_strdup("The model does not say which languages it translates");
    else if (!(target->roles & FERRY_LANGUAGE_SOURCE) || !(source->roles & FERRY_LANGUAGE_TARGET))
        reason = g_strdup_printf("The model does not translate from %s into %s", name_of(target), name_of(source));
    gtk_widget_set_sensitive(swap, reason == NULL);
    gtk_widget_set_tooltip_text(swap, reason != NULL ? reason : "Exchange text and translation");
    g_free(reason);
}

static void on_swap(window *w)
{
    const ferry_language *source = chosen(w, 0), *target = chosen(w, 1);
    show_pair(w, target, source);
    window_want(w, JOB_LANGUAGES, tag_of(target), tag_of(source));
    text_exchange(w);
}

void languages_show(window *w)
{
    const char *name = ferry_model_info(w->worker.model, "name");
    if (name != NULL && name[0] != '\0') gtk_window_set_title(window_get(w, "window"), name);
    show_pair(w, w->worker.source, w->worker.target);
}

void languages_connect(window *w)
{
    for (int side = 0; side < 2; side++)
        g_signal_connect_swapped(window_get(w, sides[side].choice), "notify::selected", G_CALLBACK(on_choice), w);
    g_signal_connect_swapped(window_get(w, "swap"), "clicked", G_CALLBACK(on_swap), w);
}
