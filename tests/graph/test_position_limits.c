/* Positional encodings whose sizes no honest model has: refused before memory is taken for them. (Tables that are only
 * out of proportion: test_encodings.c.) */
#include <sys/resource.h>

#include "tests/support/fake_position.h"
#include "tests/support/sanitized.h"

#ifdef SANITIZED
enum { MOST_KILOBYTES = 4 << 20 }; /* with the shadow of what is not touched */
#else
enum { MOST_KILOBYTES = 48 << 10 };
#endif

/* The weights would be as large, but the file does not hold them: nothing is written. */
TEST(test_tables_of_missing_weights)
{
    const char *clip = "clip 65536";
    const ferry_position_stack stack = {.layers = 1024, .d_model = 16, .heads = 1, .head_width = 16};
    const fake_file file = {.parameters = clip};
    ferry_position position;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    REFUSE(try_bind_encoding_file("shaw", &stack, file, &position, &error), FERRY_ERROR_FORMAT, "no tensor 'rel_k'");
    getrusage(RUSAGE_SELF, &after);
    assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, MOST_KILOBYTES);
}
