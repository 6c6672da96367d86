#include "byte_trie.h"

#include <stdlib.h>

/* The entries that a node leads to, and how many bytes they share. */
typedef struct group {
    size_t begin, end, depth;
} group;

static int compare_entries(const void *a, const void *b)
{
    const ferry_byte_entry *x = a, *y = b;
    const int order = ferry_view_compare(x->text, y->text);
    return order != 0 ? order : (x->value > y->value) - (x->value < y->value);
}

static uint8_t byte_at(const ferry_byte_entry *entry, size_t at)
{
    return (uint8_t)entry->text.data[at];
}

/* One node for each different beginning of sorted entries, and the root. */
static size_t count_nodes(const ferry_byte_entry *entries, size_t count)
{
    size_t nodes = 1;
    for (size_t i = 0; i < count; i++) {
        size_t shared = 0;
        while (i > 0 && shared < entries[i].text.size && shared < entries[i - 1].text.size &&
               byte_at(&entries[i], shared) == byte_at(&entries[i - 1], shared))
            shared++;
        nodes += entries[i].text.size - shared;
    }
    return nodes;
}

/* Node by node in the order of their depth, so that the children of one are neighbors. */
static void fill(ferry_byte_trie *trie, const ferry_byte_entry *entries, group *groups)
{
    size_t used = 1;
    for (size_t n = 0; n < trie->node_count; n++) {
        ferry_byte_node *node = &trie->nodes[n];
        const size_t depth = groups[n].depth;
        size_t i = groups[n].begin;
        for (; i < groups[n].end && entries[i].text.size == depth; i++)
            if (depth > 0) node->value = entries[i].value;
        node->first = (uint32_t)used;
        while (i < groups[n].end) {
            const size_t begin = i;
            const uint8_t byte = byte_at(&entries[begin], depth);
            while (i < groups[n].end && byte_at(&entries[i], depth) == byte) i++;
            groups[used] = (group){begin, i, depth + 1};
            trie->nodes[used++] = (ferry_byte_node){.value = -1, .byte = byte};
            node->count++;
        }
    }
}

ferry_status ferry_byte_trie_create(ferry_byte_entry *entries, size_t count, ferry_byte_trie *trie, ferry_error *error)
{
    *trie = (ferry_byte_trie){0};
    if (count > 1) qsort(entries, count, sizeof *entries, compare_entries);
    const size_t nodes = count_nodes(entries, count);
    if (nodes > UINT32_MAX) return ferry_fail(error, FERRY_ERROR_LIMIT, "pieces of more than 2^32 bytes");
    group *groups = calloc(nodes, sizeof *groups);
    trie->nodes = calloc(nodes, sizeof *trie->nodes);
    if (groups == NULL || trie->nodes == NULL) {
        free(groups);
        ferry_byte_trie_destroy(trie);
        return ferry_fail_memory(error, "a tree of pieces", nodes * sizeof *trie->nodes);
    }
    trie->node_count = nodes;
    trie->nodes[0].value = -1;
    groups[0] = (group){0, count, 0};
    fill(trie, entries, groups);
    free(groups);
    return FERRY_OK;
}

void ferry_byte_trie_destroy(ferry_byte_trie *trie)
{
    free(trie->nodes);
    *trie = (ferry_byte_trie){0};
}

uint32_t ferry_byte_trie_child(const ferry_byte_trie *trie, uint32_t node, uint8_t byte)
{
    uint32_t low = trie->nodes[node].first, high = low + trie->nodes[node].count;
    const uint32_t end = high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (trie->nodes[middle].byte < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && trie->nodes[low].byte == byte ? low : 0;
}

int32_t ferry_byte_trie_find(const ferry_byte_trie *trie, ferry_view text)
{
    uint32_t node = 0;
    for (size_t i = 0; i < text.size; i++) {
        node = ferry_byte_trie_child(trie, node, (uint8_t)text.data[i]);
        if (node == 0) return -1;
    }
    return trie->nodes[node].value;
}
