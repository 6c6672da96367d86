#include "bench_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "statistics.h"
#include "tools/command.h"

/* The base model of Vaswani et al. 2017, with a small vocabulary: no measurement multiplies by the output matrix. */
static const ferry_inspect_shape shape = {
    .d_model = 512, .heads = 8, .ffn_width = 2048, .encoder_layers = 6, .decoder_layers = 6, .vocab = 1024};

enum { MAX_ROUNDS = 21 };

/* In every round, each encoding takes a turn of `runs` runs; only the fastest counts, which leaves out the cold start
 * of a turn. */
typedef struct effort {
    int32_t rounds, runs;
} effort;
static const effort efforts[FERRY_COST_CASES] = {{15, 5}, {7, 1}, {3, 1}, {21, 5}, {21, 5}, {21, 5}};

typedef struct entrant {
    ferry_model *model;
    ferry_inspect_timer *timer; /* of the current case; NULL: not measured, or longer than the encoding permits */
    double rounds[MAX_ROUNDS];  /* seconds, of the current case */
} entrant;

typedef struct race {
    ferry_comparison *comparison;
    entrant *entrants; /* [count of the costs] */
    int32_t longest;   /* longer cases are left out; 0: no limit */
} race;

static bool failed(const char *name, const ferry_error *error)
{
    ferry_complain("%s: %s", name, error->message);
    return false;
}

/* ---- measuring ---- */

/* The length of the sequence that a case measures. */
static int32_t length_of(const ferry_cost_case *c)
{
    return c->target > 0 ? c->target : c->source;
}

static void take_memory(ferry_cost *cost, const ferry_cost_case *c, const ferry_inspect_timer *timer)
{
    const ferry_inspect_memory memory = ferry_inspect_timer_memory(timer);
    cost->memory = memory;
    cost->memory.thread = 0;
    if (c->source == FERRY_COST_LONGEST)
        cost->longest_bytes = memory.tables + memory.row * FERRY_COST_LONGEST + memory.thread;
}

static bool begin_case(race *r, const ferry_cost_case *c)
{
    const ferry_cost_section *section = &r->comparison->cost;
    for (size_t i = 0; i < section->count; i++) {
        entrant *e = &r->entrants[i];
        ferry_error error;
        if (r->longest > 0 && length_of(c) > r->longest) continue;
        const ferry_status status = ferry_inspect_timer_create(e->model, c->source, c->target, &e->timer, &error);
        if (status != FERRY_OK && status != FERRY_ERROR_LIMIT) return failed(section->costs[i].encoding, &error);
        if (e->timer != NULL) take_memory(&section->costs[i], c, e->timer);
    }
    return true;
}

static void end_case(race *r)
{
    for (size_t i = 0; i < r->comparison->cost.count; i++) {
        ferry_inspect_timer_destroy(r->entrants[i].timer);
        r->entrants[i].timer = NULL;
    }
}

static bool take_turn(entrant *e, const char *name, int32_t runs, double *fastest)
{
    ferry_error error;
    *fastest = INFINITY;
    for (int32_t i = 0; i < runs; i++) {
        double seconds;
        if (ferry_inspect_timer_run(e->timer, &seconds, &error) != FERRY_OK) return failed(name, &error);
        if (seconds < *fastest) *fastest = seconds;
    }
    return true;
}

static bool run_rounds(race *r, const effort *work)
{
    const ferry_cost_section *section = &r->comparison->cost;
    for (int32_t round = 0; round < work->rounds; round++)
        for (size_t i = 0; i < section->count; i++) {
            entrant *e = &r->entrants[i];
            if (e->timer != NULL && !take_turn(e, section->costs[i].encoding, work->runs, &e->rounds[round]))
                return false;
        }
    return true;
}

static void evaluate(const race *r, size_t index)
{
    const ferry_cost_section *section = &r->comparison->cost;
    for (size_t i = section->count; i-- > 0;) { /* the first one last: the others need its rounds unsorted */
        entrant *e = &r->entrants[i];
        const size_t rounds = e->timer != NULL ? (size_t)efforts[index].rounds : 0;
        double ratios[MAX_ROUNDS];
        for (size_t k = 0; k < rounds; k++) ratios[k] = e->rounds[k] / r->entrants[0].rounds[k];
        section->costs[i].ratio[index] = ferry_median_interval(ratios, rounds);
        section->costs[i].seconds[index] = ferry_median_interval(e->rounds, rounds);
    }
}

static bool measure(race *r, void (*case_done)(const ferry_comparison *comparison, size_t index))
{
    for (size_t i = 0; i < FERRY_COST_CASES; i++) {
        const bool done = begin_case(r, &ferry_cost_cases[i]) && run_rounds(r, &efforts[i]);
        if (done) evaluate(r, i);
        end_case(r);
        if (!done) return false;
        if (case_done != NULL) case_done(r->comparison, i);
    }
    return true;
}

/* ---- models ---- */

static bool enter(race *r, const char *name)
{
    ferry_cost_section *section = &r->comparison->cost;
    ferry_error error;
    for (size_t i = 0; i < section->count; i++)
        if (strcmp(section->costs[i].encoding, name) == 0) return true;
    entrant *e = &r->entrants[section->count];
    if (!ferry_succeeded(ferry_inspect_untrained(name, &shape, getenv("FERRY_ISA"), &e->model, &error), &error))
        return false;
    const ferry_inspect_scheme scheme = ferry_inspect_get_scheme(e->model, FERRY_INSPECT_ENCODER);
    section->costs[section->count].encoding = scheme.name;
    section->costs[section->count++].kind = scheme.kind;
    return true;
}

/* A listed name: up to a comma or the end. */
static bool enter_listed(race *r, const char *list)
{
    for (const char *name = list; name != NULL; name = strchr(name, ',') != NULL ? strchr(name, ',') + 1 : NULL) {
        const ferry_name one = ferry_name_format("%.*s", (int)strcspn(name, ","), name);
        if (!enter(r, one.text)) return false;
    }
    return true;
}

static bool enter_all(race *r, const char *list)
{
    ferry_cost_section *section = &r->comparison->cost;
    size_t most = 1;
    while (ferry_inspect_encoding(most) != NULL) most++; /* each is entered once */
    bool out_of_memory = false;
    section->costs = ferry_arena_take(&r->comparison->arena, most, sizeof *section->costs, &out_of_memory);
    r->entrants = ferry_allocate(most + 1, sizeof *r->entrants); /* one more to try an unknown name */
    if (out_of_memory) ferry_complain("out of memory");
    if (out_of_memory || r->entrants == NULL) return false;
    memset(section->costs, 0, most * sizeof *section->costs);
    if (!enter(r, ferry_inspect_encoding(0))) return false;
    if (list != NULL) return enter_listed(r, list);
    for (size_t i = 1; i < most; i++)
        if (!enter(r, ferry_inspect_encoding(i))) return false;
    return true;
}

bool ferry_measure_cost(ferry_comparison *comparison, const char *list, int32_t longest,
                        void (*begun)(const ferry_comparison *comparison),
                        void (*case_done)(const ferry_comparison *comparison, size_t index))
{
    race r = {.comparison = comparison, .longest = longest};
    comparison->cost.shape = shape;
    bool done = enter_all(&r, list);
    if (done) comparison->cost.isa = ferry_inspect_isa(r.entrants[0].model);
    if (done && begun != NULL) begun(comparison);
    done = done && measure(&r, case_done);
    for (size_t i = 0; r.entrants != NULL && i < comparison->cost.count; i++) ferry_model_close(r.entrants[i].model);
    free(r.entrants);
    return done;
}
