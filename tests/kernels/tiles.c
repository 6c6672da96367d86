#include "tiles.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 8, ROWS = 16, BYTES = 64 };

typedef struct tile {
    int rows;  /* 0: not configured */
    int bytes; /* of a row */
    int8_t data[ROWS][BYTES];
} tile;

static _Thread_local tile tiles[TILES];

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "emulated tiles: %s\n", what);
    abort();
}

static tile *find(int index)
{
    demand(index >= 0 && index < TILES, "there are 8 tiles");
    demand(tiles[index].rows > 0, "a tile that is not configured");
    return &tiles[index];
}

void emulated_tile_loadconfig(const void *config)
{
    const uint8_t *bytes = config;
    demand(bytes[0] == 1 && bytes[1] == 0, "palette 1, and no start row");
    for (int i = 2; i < 16; i++) demand(bytes[i] == 0, "reserved bytes are 0");
    memset(tiles, 0, sizeof tiles);
    for (int i = 0; i < ROWS; i++) {
        const int columns = bytes[16 + 2 * i] | bytes[17 + 2 * i] << 8, rows = bytes[48 + i];
        demand(columns <= BYTES && rows <= ROWS && (columns == 0) == (rows == 0), "up to 16 rows of 64 bytes");
        demand(i < TILES || rows == 0, "there are 8 tiles");
        if (i < TILES) tiles[i] = (tile){.rows = rows, .bytes = columns};
    }
}

void emulated_tile_release(void)
{
    memset(tiles, 0, sizeof tiles);
}

void emulated_tile_zero(int index)
{
    tile *t = find(index);
    memset(t->data, 0, sizeof t->data);
}

void emulated_tile_loadd(int index, const void *base, size_t stride)
{
    tile *t = find(index);
    memset(t->data, 0, sizeof t->data);
    for (int r = 0; r < t->rows; r++) memcpy(t->data[r], (const char *)base + (size_t)r * stride, (size_t)t->bytes);
}

void emulated_tile_stored(int index, void *base, size_t stride)
{
    const tile *t = find(index);
    for (int r = 0; r < t->rows; r++) memcpy((char *)base + (size_t)r * stride, t->data[r], (size_t)t->bytes);
}

void emulated_tile_dpbssd(int sums, int a, int b)
{
    tile *c = find(sums);
    const tile *x = find(a), *w = find(b);
    demand(sums != a && sums != b && a != b, "three different tiles");
    demand(c->rows == x->rows && c->bytes == w->bytes && x->bytes == 4 * w->rows, "shapes that fit each other");
    for (int m = 0; m < c->rows; m++) {
        int32_t sums_of_places[BYTES] = {0}, row[BYTES / 4];
        for (int k = 0; k < w->rows; k++) {
            int8_t four[BYTES];
            for (int n = 0; n < BYTES; n += 4) memcpy(four + n, x->data[m] + 4 * k, 4);
            for (int n = 0; n < BYTES; n++) sums_of_places[n] += four[n] * w->data[k][n];
        }
        memcpy(row, c->data[m], sizeof row);
        for (int n = 0; n < c->bytes; n++) row[n / 4] += sums_of_places[n];
        memcpy(c->data[m], row, sizeof row);
    }
}
