"""Starts a conversion that prints messages, stops it by a signal while it writes the file, and expects that it ends by
that signal, with the files that were there: stop_conversion.py SIGNAL PROGRAM ARGUMENT...

Its messages go to a pipe that is full, so that it waits there, in the middle of the file. PIPE is not sent, but comes of
closing the pipe."""

import fcntl
import os
import signal
import subprocess
import sys
import time

number = getattr(signal, "SIG" + sys.argv[1])
reader, writer = os.pipe()
fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
try:
    while True:
        os.write(writer, b"\0" * 512)
except BlockingIOError:
    fcntl.fcntl(writer, fcntl.F_SETFL, 0)

before = set(os.listdir("."))
process = subprocess.Popen(sys.argv[2:], stderr=writer)
os.close(writer)
while process.poll() is None and not set(os.listdir(".")) - before:
    time.sleep(0.01)
if process.poll() is not None:
    sys.exit("the conversion ended without waiting for its messages")
if number == signal.SIGPIPE:
    os.close(reader)
else:
    process.send_signal(number)
    while os.read(reader, 65536):
        pass
status = process.wait()
if status != -number:
    sys.exit(f"expected the end by signal {number}, found status {status}")
if set(os.listdir(".")) != before:
    sys.exit(f"left behind: {set(os.listdir('.')) - before}")
