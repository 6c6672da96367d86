#include "bench_machine.h"

#include <stdint.h>
#include <string.h>

#include "base/files/file_system.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* ---- peaks: with enough independent chains to hide the latency ---- */

enum { CHAINS = 12, PEAK_STEPS = 100000 };

/* `each`: the multiplications of one STEP(acc, factor). The assembly keeps the sums in registers and the steps in the
 * loop; `any` is its constraint for a vector register. */
#define DEFINE_PEAK(name, attribute, vector, init, each, STEP, any)                                                    \
    attribute static double name(void)                                                                                 \
    {                                                                                                                  \
        vector acc[CHAINS], factor = init;                                                                             \
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) acc[i] = factor;                                     \
        const double start = ferry_thread_clock();                                                                     \
        for (int n = 0; n < PEAK_STEPS; n++) {                                                                         \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)                                                  \
            {                                                                                                          \
                acc[i] = STEP(acc[i], factor);                                                                         \
                __asm__ volatile("" : "+" any(acc[i]));                                                                \
            }                                                                                                          \
        }                                                                                                              \
        return (double)(each)*PEAK_STEPS * CHAINS / (ferry_thread_clock() - start);                                    \
    }

#if defined(__x86_64__) || defined(__aarch64__)
typedef float four_floats __attribute__((vector_size(16)));
#define MUL_ADD(acc, factor) ((acc) * (factor) + (factor))
#define HALVES                                                                                                         \
    {                                                                                                                  \
        0.5f, 0.5f, 0.5f, 0.5f                                                                                         \
    }
#endif

#if defined(__x86_64__)
#define TARGET(isa) __attribute__((target(isa)))
#define FMA_256(acc, factor) _mm256_fmadd_ps(acc, factor, factor)
#define FMA_512(acc, factor) _mm512_fmadd_ps(acc, factor, factor)
#define MADDUBS_256(acc, factor)                                                                                       \
    _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(factor, acc), _mm256_set1_epi16(1)))
#define MADDUBS_512(acc, factor)                                                                                       \
    _mm512_add_epi32(acc, _mm512_madd_epi16(_mm512_maddubs_epi16(factor, acc), _mm512_set1_epi16(1)))
#define VNNI_256(acc, factor) _mm256_dpbusd_avx_epi32(acc, factor, factor)
#define VNNI_512(acc, factor) _mm512_dpbusd_epi32(acc, factor, factor)
DEFINE_PEAK(peak_mul_add, , four_floats, HALVES, 4, MUL_ADD, "v")
DEFINE_PEAK(peak_fma_256, TARGET("avx2,fma"), __m256, _mm256_set1_ps(0.5f), 8, FMA_256, "v")
DEFINE_PEAK(peak_fma_512, TARGET("avx512f"), __m512, _mm512_set1_ps(0.5f), 16, FMA_512, "v")
DEFINE_PEAK(peak_maddubs_256, TARGET("avx2"), __m256i, _mm256_set1_epi8(3), 32, MADDUBS_256, "v")
DEFINE_PEAK(peak_maddubs_512, TARGET("avx512f,avx512bw"), __m512i, _mm512_set1_epi8(3), 64, MADDUBS_512, "v")
DEFINE_PEAK(peak_avxvnni, TARGET("avx2,avxvnni"), __m256i, _mm256_set1_epi8(3), 32, VNNI_256, "v")
DEFINE_PEAK(peak_vnni, TARGET("avx512f,avx512vnni"), __m512i, _mm512_set1_epi8(3), 64, VNNI_512, "v")

/* Four tiles of sums from the same two tiles. Selecting the AMX kernels has requested permission to use tiles. */
TARGET("amx-tile,amx-int8") static double peak_amx(void)
{
    enum { STEPS = 20000, TILES = 4 };
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shapes = {.palette = 1};
    for (int t = 0; t < 6; t++) {
        shapes.row_bytes[t] = 64;
        shapes.rows[t] = 16;
    }
    __asm__ volatile("" : : "m"(shapes));
    _tile_loadconfig(&shapes); /* zeroes the tiles */
    const double start = ferry_thread_clock();
    for (int n = 0; n < STEPS; n++) {
        _tile_dpbssd(0, 4, 5);
        _tile_dpbssd(1, 4, 5);
        _tile_dpbssd(2, 4, 5);
        _tile_dpbssd(3, 4, 5);
    }
    const double seconds = ferry_thread_clock() - start;
    _tile_release();
    return 1.0 * STEPS * TILES * 16 * 16 * 64 / seconds;
}

static const bench_peaks table[] = {
    {"plain", {"mul_add", peak_mul_add}, {{NULL, NULL}}},
    {"avx2", {"fma", peak_fma_256}, {{"maddubs", peak_maddubs_256}}},
    {"avxvnni", {"fma", peak_fma_256}, {{"avx_vnni", peak_avxvnni}}},
    {"avx512", {"fma", peak_fma_512}, {{"maddubs", peak_maddubs_512}}},
    {"avx512vnni", {"fma", peak_fma_512}, {{"vnni", peak_vnni}}},
    {"amx", {"fma", peak_fma_512}, {{"vnni", peak_vnni}, {"amx", peak_amx}}},
    {NULL, {NULL, NULL}, {{NULL, NULL}}},
};
#elif defined(__aarch64__)
#define FMA(acc, factor) vfmaq_f32(acc, factor, factor)
#define SDOT(acc, factor) vdotq_s32(acc, vreinterpretq_s8_s32(factor), vreinterpretq_s8_s32(factor))
#define SMMLA(acc, factor) vmmlaq_s32(acc, vreinterpretq_s8_s32(factor), vreinterpretq_s8_s32(factor))
DEFINE_PEAK(peak_mul_add, , four_floats, HALVES, 4, MUL_ADD, "w")
DEFINE_PEAK(peak_fma, , float32x4_t, vdupq_n_f32(0.5f), 4, FMA, "w")
DEFINE_PEAK(peak_sdot, __attribute__((target("arch=armv8.2-a+dotprod"))), int32x4_t, vdupq_n_s32(3), 16, SDOT, "w")
DEFINE_PEAK(peak_smmla, __attribute__((target("arch=armv8.2-a+i8mm"))), int32x4_t, vdupq_n_s32(3), 32, SMMLA, "w")

static const bench_peaks table[] = {
    {"plain", {"mul_add", peak_mul_add}, {{NULL, NULL}}},
    {"neon", {"fma", peak_fma}, {{NULL, NULL}}},
    {"neon_dotprod", {"fma", peak_fma}, {{"sdot", peak_sdot}}},
    {"neon_i8mm", {"fma", peak_fma}, {{"smmla", peak_smmla}}},
    {NULL, {NULL, NULL}, {{NULL, NULL}}},
};
#else
static const bench_peaks table[] = {{NULL, {NULL, NULL}, {{NULL, NULL}}}};
#endif

const bench_peaks *bench_peaks_find(const char *isa)
{
    const bench_peaks *peaks = table;
    while (peaks->isa != NULL && strcmp(peaks->isa, isa) != 0) peaks++;
    return peaks;
}

/* ---- reading ---- */

typedef uint64_t line __attribute__((vector_size(64), may_alias));

/* Adds everything up, in four parallel streams. */
static inline __attribute__((always_inline)) void read_lines(const void *data, size_t size)
{
    const line *lines = data;
    const size_t quarter = size / sizeof *lines / 4;
    line sums[4] = {{0}};
    for (size_t i = 0; i < quarter; i++)
        _Pragma("GCC unroll 4") for (size_t j = 0; j < 4; j++) sums[j] += lines[j * quarter + i];
    __asm__ volatile("" : : "m"(sums));
}

static void read_plain(const void *data, size_t size)
{
    read_lines(data, size);
}

#if defined(__x86_64__)
TARGET("avx512f") static void read_avx512(const void *data, size_t size)
{
    read_lines(data, size);
}
#endif

void bench_read(const char *isa, const void *data, size_t size)
{
#if defined(__x86_64__)
    if (strncmp(isa, "avx512", 6) == 0 || strcmp(isa, "amx") == 0) {
        read_avx512(data, size);
        return;
    }
#else
    (void)isa;
#endif
    read_plain(data, size);
}
