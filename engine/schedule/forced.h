/* Scores tasks with forced targets. */
#ifndef FERRY_SCHEDULE_FORCED_H
#define FERRY_SCHEDULE_FORCED_H

typedef struct ferry_worker ferry_worker;

/* Fills in `scores` and `weights` of the targets of tasks, group by group, until no task is left for the worker. */
void ferry_worker_score(ferry_worker *worker);

#endif
