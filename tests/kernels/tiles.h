/* AMX's tiles in C (Intel SDM volume 2: LDTILECFG, TILELOADD, TILESTORED, TILEZERO, TDPBSSD, TILERELEASE), so that
 * engine/kernels/int8_matrix.c runs on processors that lack them: included before its first line. Where a processor
 * would fault, the program ends. */
#ifndef FERRY_TESTS_TILES_H
#define FERRY_TESTS_TILES_H

#include <stddef.h>

#include <immintrin.h>

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbssd
#define _tile_loadconfig emulated_tile_loadconfig
#define _tile_release emulated_tile_release
#define _tile_zero emulated_tile_zero
#define _tile_loadd emulated_tile_loadd
#define _tile_stored emulated_tile_stored
#define _tile_dpbssd emulated_tile_dpbssd

void emulated_tile_loadconfig(const void *config);
void emulated_tile_release(void);
void emulated_tile_zero(int tile);
void emulated_tile_loadd(int tile, const void *base, size_t stride);
void emulated_tile_stored(int tile, void *base, size_t stride);
void emulated_tile_dpbssd(int sums, int a, int b);

#endif
