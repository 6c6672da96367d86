/* A child process that reads a stranger's files, and can do as little else as the system can refuse (docs/security.md).
 */
#ifndef FERRY_TOOLS_CONFINED_H
#define FERRY_TOOLS_CONFINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether there are child processes: not on Windows, and not in builds with sanitizers or coverage. */
extern const bool ferry_has_children;

/* What a process can be refused: opening other files; sockets, io_uring, more processes. */
enum { FERRY_REFUSED_FILES = 1, FERRY_REFUSED_SOCKETS = 2 };

/* From here on, this process opens `source` alone for reading (a folder and what it holds, an archive, or a file and
 * those beside it; what links there lead to), and the files of `folder` (NULL: none) for writing. Files that are open
 * stay so. Returns what the system refuses from now on. */
unsigned ferry_confine(const char *source, const char *folder);

typedef struct ferry_child {
    int64_t process;
    int channel;       /* what it sends */
    size_t received;   /* bytes of a message */
    char folder[4096]; /* for its temporary files; "": none */
    int failure;       /* why there is none, as in errno */
} ferry_child;

/* In the child: `refused`, as of ferry_confine; messages go to `channel`. */
typedef void ferry_child_work(void *user, unsigned refused, int channel);

/* Starts a child that is confined to `source` and calls `work`. It has a new folder as its TMPDIR. Of what is open in
 * this process, it has `output`, and files and folders that are open for reading. The process must have one thread.
 * False and errno on failure. */
bool ferry_child_start(ferry_child *child, const char *source, int output, ferry_child_work *work, void *user);
/* In the child: sends `size` bytes, the same number for each message. Does not return if nobody listens. */
void ferry_child_send(int channel, const void *message, size_t size);
/* Waits until `message` is complete (1), the time has passed or a signal came (0), or there are no more (-1). The next
 * call goes on with what was received. */
int ferry_child_receive(ferry_child *child, void *message, size_t size, int milliseconds);
/* Ends the child, and removes its folder. Returns the name of the signal that had ended it before; NULL: none had. */
const char *ferry_child_end(ferry_child *child);

#endif
