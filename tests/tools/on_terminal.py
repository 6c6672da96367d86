"""Runs a command whose standard error is a terminal: on_terminal.py COMMAND ARGUMENT…
What it writes there goes to this program's standard error, byte by byte."""
import os
import pty
import subprocess
import sys
import tty

controller, terminal = pty.openpty()
tty.setraw(terminal)  # otherwise a newline becomes CR LF
process = subprocess.Popen(sys.argv[1:], stderr=terminal)
os.close(terminal)
while True:
    try:
        data = os.read(controller, 4096)
    except OSError:  # the other side is closed
        break
    if not data:
        break
    sys.stderr.buffer.write(data)
sys.exit(process.wait())
