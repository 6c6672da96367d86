/* Threads, mutexes and conditions of the operating system. (Threads that wait for work: pool.h.) */
#ifndef FERRY_BASE_THREADS_H
#define FERRY_BASE_THREADS_H

#include <fenv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
typedef struct ferry_mutex {
    void *lock; /* an SRWLOCK */
} ferry_mutex;
typedef struct ferry_condition {
    void *variable; /* a CONDITION_VARIABLE */
} ferry_condition;
typedef struct ferry_once {
    void *state; /* an INIT_ONCE */
} ferry_once;
typedef void *ferry_thread_handle;
/* Initializers of static objects. */
#define FERRY_MUTEX_READY                                                                                              \
    {                                                                                                                  \
        NULL                                                                                                           \
    }
#define FERRY_ONCE_READY                                                                                               \
    {                                                                                                                  \
        NULL                                                                                                           \
    }
#elif defined(__wasm__)
typedef char ferry_mutex, ferry_condition, ferry_thread_handle; /* nothing */
typedef bool ferry_once;                                        /* run() was called */
#define FERRY_MUTEX_READY 0
#define FERRY_ONCE_READY false
#else
#include <pthread.h>
typedef pthread_mutex_t ferry_mutex;
typedef pthread_cond_t ferry_condition;
typedef pthread_once_t ferry_once;
typedef pthread_t ferry_thread_handle;
#define FERRY_MUTEX_READY PTHREAD_MUTEX_INITIALIZER
#define FERRY_ONCE_READY PTHREAD_ONCE_INIT
#endif

void ferry_mutex_create(ferry_mutex *mutex);
void ferry_mutex_destroy(ferry_mutex *mutex);
void ferry_mutex_lock(ferry_mutex *mutex);
void ferry_mutex_unlock(ferry_mutex *mutex);

void ferry_condition_create(ferry_condition *condition);
void ferry_condition_destroy(ferry_condition *condition);
/* The caller has locked `mutex`. May return without a wake-up. */
void ferry_condition_wait(ferry_condition *condition, ferry_mutex *mutex);
void ferry_condition_wake_all(ferry_condition *condition);

/* The first call for `once` calls run(). Later calls return when run() has returned. */
void ferry_call_once(ferry_once *once, void (*run)(void));

/* Must not move until ferry_thread_join. */
typedef struct ferry_thread {
    ferry_thread_handle handle;
    void (*run)(void *user);
    void *user;
} ferry_thread;

/* Bytes of stack of the library's own threads. They need less than 128 kB (the compiler refuses frames above 16 kB);
 * the rest is for callbacks, and for the program's thread-local variables, which glibc keeps there, too. */
enum { FERRY_THREAD_STACK = 1 << 20 };

/* Starts a thread that calls run(user) and blocks all signals. `stack`: its stack in bytes, more if the system requires
 * more; 0: the system's default. Returns 0, or the errno of the failure. */
int ferry_thread_start(ferry_thread *thread, size_t stack, void (*run)(void *user), void *user);
void ferry_thread_join(ferry_thread *thread);

/* Lets the processor run another thread. */
void ferry_thread_yield(void);
void ferry_thread_sleep(double seconds);

/* The number of processors that this process may use, at least 1. */
int32_t ferry_processors(void);

/* The id of this process. A child of fork() has another one. */
int64_t ferry_process_id(void);

/* The floating-point environment that results depend on: rounding to nearest, subnormal numbers, no traps. The host
 * program may have set another one. */
typedef struct ferry_fenv {
    fenv_t host;
} ferry_fenv;

/* Sets this thread's environment to the default. Returns the environment before the call. */
static inline ferry_fenv ferry_fenv_begin(void)
{
    ferry_fenv fenv;
    fegetenv(&fenv.host);
    fesetenv(FE_DFL_ENV);
    return fenv;
}
/* Restores the environment of the host. Exceptions since ferry_fenv_begin leave no flags. */
static inline void ferry_fenv_end(const ferry_fenv *fenv)
{
    fesetenv(&fenv->host);
}
/* The default environment from here to the end of the block. */
#define FERRY_FENV const ferry_fenv fenv_ __attribute__((cleanup(ferry_fenv_end), unused)) = ferry_fenv_begin()

#endif
