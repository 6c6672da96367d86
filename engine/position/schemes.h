/* The list of encodings. */
#ifndef FERRY_POSITION_SCHEMES_H
#define FERRY_POSITION_SCHEMES_H

typedef struct ferry_position_scheme ferry_position_scheme;

/* All encodings but "none", in the order of reports. The name X(name) stands for the constant ferry_position_name,
 * which one file of this folder defines. */
#define FERRY_POSITION_SCHEMES(X)                                                                                      \
    X(learned)                                                                                                         \
    X(sinusoidal)                                                                                                      \
    X(shaw)                                                                                                            \
    X(t5)                                                                                                              \
    X(transformer_xl)                                                                                                  \
    X(deberta)                                                                                                         \
    X(rope)                                                                                                            \
    X(alibi)                                                                                                           \
    X(kerple)                                                                                                          \
    X(fire)

#define FERRY_POSITION_DECLARE(name) extern const ferry_position_scheme ferry_position_##name;
FERRY_POSITION_SCHEMES(FERRY_POSITION_DECLARE)

#endif
