#define _GNU_SOURCE /* pthread_sigmask, _SC_THREAD_STACK_MIN */
#include "threads.h"

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* ---- waiting ---- */

void ferry_mutex_create(ferry_mutex *mutex)
{
    pthread_mutex_init(mutex, NULL);
}

void ferry_mutex_destroy(ferry_mutex *mutex)
{
    pthread_mutex_destroy(mutex);
}

void ferry_mutex_lock(ferry_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}

void ferry_mutex_unlock(ferry_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}

void ferry_condition_create(ferry_condition *condition)
{
    pthread_cond_init(condition, NULL);
}

void ferry_condition_destroy(ferry_condition *condition)
{
    pthread_cond_destroy(condition);
}

void ferry_condition_wait(ferry_condition *condition, ferry_mutex *mutex)
{
    pthread_cond_wait(condition, mutex);
}

void ferry_condition_wake_all(ferry_condition *condition)
{
    pthread_cond_broadcast(condition);
}

void ferry_call_once(ferry_once *once, void (*run)(void))
{
    pthread_once(once, run);
}

/* ---- threads ---- */

static void *run_thread(void *argument)
{
    const ferry_thread *thread = argument;
    thread->run(thread->user);
    return NULL;
}

static size_t stack_bytes(size_t wanted)
{
    const long min = sysconf(_SC_THREAD_STACK_MIN);
    return min > (long)(wanted / 2) ? (size_t)min + wanted : wanted;
}

static int create(ferry_thread *thread, size_t stack)
{
    pthread_attr_t attributes;
    int failure = pthread_attr_init(&attributes);
    if (failure != 0) return failure;
    if (stack > 0) failure = pthread_attr_setstacksize(&attributes, stack_bytes(stack));
    if (failure == 0) failure = pthread_create(&thread->handle, &attributes, run_thread, thread);
    pthread_attr_destroy(&attributes);
    return failure;
}

int ferry_thread_start(ferry_thread *thread, size_t stack, void (*run)(void *user), void *user)
{
    /* Signals belong to the host program. The new thread inherits this mask, which blocks all of them. */
    sigset_t all, before;
    *thread = (ferry_thread){.run = run, .user = user};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failure = create(thread, stack);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

void ferry_thread_join(ferry_thread *thread)
{
    pthread_join(thread->handle, NULL);
}

void ferry_thread_yield(void)
{
    sched_yield();
}

void ferry_thread_sleep(double seconds)
{
    const time_t whole = (time_t)seconds;
    nanosleep(&(struct timespec){.tv_sec = whole, .tv_nsec = (long)(1e9 * (seconds - (double)whole))}, NULL);
}

int32_t ferry_processors(void)
{
#if defined(__linux__)
    cpu_set_t allowed; /* taskset and containers restrict it; at most 1,024 processors */
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return (int32_t)CPU_COUNT(&allowed);
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT32_MAX ? (int32_t)online : 1;
}

int64_t ferry_process_id(void)
{
    return getpid();
}
