#include "shipped_model.h"

#include "small_model.h"

ferry_model *model;

int open_model(void **state)
{
    (void)state;
    model = open_shipped();
    return 0;
}

int open_separate(void **state)
{
    (void)state;
    model = convert_data("models/marian-separate", NULL);
    return 0;
}

int open_pieces(void **state)
{
    (void)state;
    model = open_small_model(&(small_model){.tokenizer = "pieces"}, NULL);
    return 0;
}

int close_model(void **state)
{
    (void)state;
    ferry_model_close(model);
    model = NULL;
    return 0;
}
