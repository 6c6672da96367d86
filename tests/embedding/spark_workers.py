"""Runs a Spark job, and meanwhile watches its Python workers: spark_workers.py MODEL COMMAND…

Two of them have to share every page of MODEL that they have in memory. Then one of them is killed. The exit status is
the command's. No other process may use the file MODEL."""
import glob
import os
import re
import signal
import subprocess
import sys
import time

model, *command = sys.argv[1:]


def mapping(pid):
    """In kB, what of the model is in the memory of a process: {"Rss": …, "Pss": …}, {} if it does not map the file."""
    found, inside = {}, False
    try:
        with open(f"/proc/{pid}/smaps") as file:
            for line in file:
                if re.match("[0-9a-f]+-[0-9a-f]+ ", line):
                    inside = line.rstrip("\n").endswith(model)
                elif inside and line.endswith(" kB\n"):
                    name, size = line.split()[:2]
                    found[name[:-1]] = found.get(name[:-1], 0) + int(size)
    except OSError:  # it has ended
        return {}
    return found


def workers():
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if b"pyspark.daemon" in file.read():
                    yield int(path.split("/")[2])
        except OSError:
            pass


def shared(each):
    return each["Shared_Clean"] + each["Shared_Dirty"]


job = subprocess.Popen(command)
whole = os.path.getsize(model) / 1024
found = {}
# They read the model page by page: what one of them has read and the other has not is not shared yet.
while len(found) < 2 or any(shared(each) < each["Rss"] for each in found.values()):
    if job.poll() is not None:
        sys.exit(f"spark_workers: no two workers share {model}; at last {found}; exit status {job.returncode}")
    time.sleep(0.02)
    found = {pid: each for pid in workers() if (each := mapping(pid)).get("Rss", 0) > whole / 2} or found
for pid, each in found.items():
    print(f"worker {pid}: {each['Rss']} kB of the model, {shared(each)} kB shared, its part {each['Pss']} kB", flush=True)
os.kill(min(found), signal.SIGKILL)
sys.exit(job.wait())
