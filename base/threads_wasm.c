/* WebAssembly: one thread, which never waits. */
#include "threads.h"

#include <errno.h>

void ferry_mutex_create(ferry_mutex *mutex)
{
    (void)mutex;
}

void ferry_mutex_destroy(ferry_mutex *mutex)
{
    (void)mutex;
}

void ferry_mutex_lock(ferry_mutex *mutex)
{
    (void)mutex;
}

void ferry_mutex_unlock(ferry_mutex *mutex)
{
    (void)mutex;
}

void ferry_condition_create(ferry_condition *condition)
{
    (void)condition;
}

void ferry_condition_destroy(ferry_condition *condition)
{
    (void)condition;
}

void ferry_condition_wait(ferry_condition *condition, ferry_mutex *mutex)
{
    (void)condition, (void)mutex;
}

void ferry_condition_wake_all(ferry_condition *condition)
{
    (void)condition;
}

void ferry_call_once(ferry_once *once, void (*run)(void))
{
    if (*once) return;
    *once = true;
    run();
}

int ferry_thread_start(ferry_thread *thread, size_t stack, void (*run)(void *user), void *user)
{
    (void)thread, (void)stack, (void)run, (void)user;
    return ENOSYS;
}

void ferry_thread_join(ferry_thread *thread)
{
    (void)thread;
}

void ferry_thread_yield(void)
{
}

int64_t ferry_process_id(void)
{
    return 1;
}
