/* How large the inputs of an int8 product may be together, so that parts of its sums fit in 16 bits (product_i8.h). */
#ifndef FERRY_KERNELS_INPUT_LIMITS_H
#define FERRY_KERNELS_INPUT_LIMITS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Of a matrix q [N, K]. values[⌈K/32⌉][2][2] is for 16 inputs, four groups, and for the first and the second pair of
 * all of these groups: the most Σ x̂² over these eight inputs with which |Σ x̂·q[n]| < 2^15 for every output n, which is
 * (2^15 - 1)² / max_n Σ q[n]² (Cauchy and Schwarz). Behind them, [⌈K/32⌉][2] is the same for 32 inputs. */
typedef struct ferry_input_limits {
    atomic_int state;
    atomic_int rows; /* that have been multiplied */
    int32_t N, K;
    const int8_t *codes;
    int32_t values[];
} ferry_input_limits;

/* How many values there are, and how many of them are for 16 inputs. K ≥ 1. */
size_t ferry_input_limits_count(int32_t K);
size_t ferry_input_limits_fours(int32_t K);

/* Bytes of the struct, which is the caller's; then codes of q (ferry_matrix) must last as long as it does. */
size_t ferry_input_limits_size(int32_t K);
void ferry_input_limits_init(ferry_input_limits *limits, const int8_t *codes, int32_t N, int32_t K);

/* Finding them means reading all codes, which does not pay for fewer rows in all; and sums of 16 bits do not pay for
 * products of fewer rows. */
enum { FERRY_LIMITED_ROWS = 128, FERRY_LIMITED_ROWS_TOGETHER = 8 };
/* The values, for a product of some rows; NULL before a total of FERRY_LIMITED_ROWS, or while another thread finds
 * them. Thread-safe. */
const int32_t *ferry_input_limits_find(ferry_input_limits *limits, int32_t rows);

#endif
