#include "threads.h"

#include <errno.h>
#include <process.h>
#include <windows.h>

_Static_assert(sizeof(SRWLOCK) == sizeof(ferry_mutex) && sizeof(CONDITION_VARIABLE) == sizeof(ferry_condition) &&
                   sizeof(INIT_ONCE) == sizeof(ferry_once),
               "threads.h has their size");

/* ---- waiting ---- */

static SRWLOCK *lock_of(ferry_mutex *mutex)
{
    return (SRWLOCK *)&mutex->lock;
}

static CONDITION_VARIABLE *variable_of(ferry_condition *condition)
{
    return (CONDITION_VARIABLE *)&condition->variable;
}

void ferry_mutex_create(ferry_mutex *mutex)
{
    InitializeSRWLock(lock_of(mutex));
}

void ferry_mutex_destroy(ferry_mutex *mutex)
{
    (void)mutex; /* holds nothing */
}

void ferry_mutex_lock(ferry_mutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

void ferry_mutex_unlock(ferry_mutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

void ferry_condition_create(ferry_condition *condition)
{
    InitializeConditionVariable(variable_of(condition));
}

void ferry_condition_destroy(ferry_condition *condition)
{
    (void)condition; /* holds nothing */
}

void ferry_condition_wait(ferry_condition *condition, ferry_mutex *mutex)
{
    SleepConditionVariableSRW(variable_of(condition), lock_of(mutex), INFINITE, 0);
}

void ferry_condition_wake_all(ferry_condition *condition)
{
    WakeAllConditionVariable(variable_of(condition));
}

typedef struct once_call {
    void (*run)(void);
} once_call;

static BOOL CALLBACK run_once(INIT_ONCE *once, void *parameter, void **context)
{
    const once_call *call = parameter;
    (void)once;
    (void)context;
    call->run();
    return TRUE;
}

void ferry_call_once(ferry_once *once, void (*run)(void))
{
    InitOnceExecuteOnce((INIT_ONCE *)&once->state, run_once, &(once_call){run}, NULL);
}

/* ---- threads ---- */

static unsigned __stdcall run_thread(void *argument)
{
    const ferry_thread *thread = argument;
    thread->run(thread->user);
    return 0;
}

int ferry_thread_start(ferry_thread *thread, size_t stack, void (*run)(void *user), void *user)
{
    *thread = (ferry_thread){.run = run, .user = user};
    const uintptr_t handle =
        _beginthreadex(NULL, (unsigned)stack, run_thread, thread, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    thread->handle = (void *)handle;
    return handle != 0 ? 0 : errno;
}

void ferry_thread_join(ferry_thread *thread)
{
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

void ferry_thread_yield(void)
{
    SwitchToThread();
}

void ferry_thread_sleep(double seconds)
{
    Sleep((DWORD)(1e3 * seconds + 0.5));
}

int32_t ferry_processors(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return (int32_t)info.dwNumberOfProcessors;
}

int64_t ferry_process_id(void)
{
    return (int64_t)GetCurrentProcessId();
}
