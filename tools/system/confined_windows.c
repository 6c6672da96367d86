#include "confined.h"

const bool ferry_has_children = false;

unsigned ferry_confine(const char *source, const char *folder)
{
    (void)source, (void)folder;
    return 0;
}

bool ferry_child_start(ferry_child *child, const char *source, int output, ferry_child_work *work, void *user)
{
    (void)child, (void)source, (void)output, (void)work, (void)user;
    return false;
}

void ferry_child_send(int channel, const void *message, size_t size)
{
    (void)channel, (void)message, (void)size;
}

int ferry_child_receive(ferry_child *child, void *message, size_t size, int milliseconds)
{
    (void)child, (void)message, (void)size, (void)milliseconds;
    return -1;
}

const char *ferry_child_end(ferry_child *child)
{
    (void)child;
    return NULL;
}
