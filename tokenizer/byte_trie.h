/* Texts in a tree of their bytes: which of them a text begins with. Immutable once created: threads may share it. */
#ifndef FERRY_TOKENIZER_BYTE_TRIE_H
#define FERRY_TOKENIZER_BYTE_TRIE_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_byte_node {
    uint32_t first; /* its children, by their bytes, are nodes first … first + count - 1 */
    int32_t value;  /* of the text that ends here; -1: none does */
    uint16_t count;
    uint8_t byte;
} ferry_byte_node;

typedef struct ferry_byte_trie {
    ferry_byte_node *nodes; /* [0] is the root */
    size_t node_count;
} ferry_byte_trie;

typedef struct ferry_byte_entry {
    ferry_view text;
    int32_t value; /* ≥ 0 */
} ferry_byte_entry;

/* Sorts `entries` [count]. Of equal texts, the one with the largest value counts; empty texts match nowhere. Errors:
 * LIMIT (2³² nodes), MEMORY; *trie is zeroed on failure. */
ferry_status ferry_byte_trie_create(ferry_byte_entry *entries, size_t count, ferry_byte_trie *trie, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_byte_trie_destroy(ferry_byte_trie *trie);

/* The child of a node; 0: there is none. A walk begins at node 0. */
uint32_t ferry_byte_trie_child(const ferry_byte_trie *trie, uint32_t node, uint8_t byte);
/* The value of exactly this text; -1: it is not among them. */
int32_t ferry_byte_trie_find(const ferry_byte_trie *trie, ferry_view text);

#endif
