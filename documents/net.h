/* The net under every text: syntax that neither a reader nor the finder of placeholders has claimed is kept.
 *
 *     groups   [[page]] {a {b} c} <name> <name a="b"> [!note] [1] [x] [a:b] ((x)) B<ls>, however far the partner is;
 *              and, where a word ends, ](address) ][name]; in catalogs and JSON [name]. Read: {see the note below},
 *              "a name" of [[page|a name]]
 *     tokens   C++ AT&T x^2 is:open y/n a.b.c HTML: with a mark inside, once punctuation, and marks around the word,
 * came off; and what is glued to a placeholder on both sides marks    the marks of *word* [two words] ^word^ ==two
 * words==, which go where the word goes; => && | :) alone
 *
 * Marks are those of FERRY_MARKS. Read all the same: "and/or", "50%", "3:1", "EU:n". */
#ifndef FERRY_DOCUMENTS_NET_H
#define FERRY_DOCUMENTS_NET_H

#include "document.h"

/* Keeps what the net catches in the spans of the open segment, `first` … document->span_count - 1. Time is linear.
 * Errors: MEMORY. */
ferry_status ferry_net_cast(ferry_document *document, size_t first);

/* Whether spans first … after - 1, which are a line, are no text: one {…}, one \name{…}, ![[…]], a tag in brackets,
 * marks, "name:: value", or what begins with three of one of : / ! ? + % and a name in small letters. */
bool ferry_net_is_line(const ferry_document *document, size_t first, size_t after);

#endif
