"""Most memory, in kB, of a translation of COUNT lines, when it waits for more: peak_memory.py COUNT COMMAND ARGUMENT…"""
import subprocess
import sys
import threading

count = int(sys.argv[1])
job = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def write():
    job.stdin.write(b"a b\nb\n" * (count // 2))
    job.stdin.flush()


threading.Thread(target=write).start()
for _ in range(count):
    job.stdout.readline()
with open(f"/proc/{job.pid}/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
job.stdin.close()
sys.exit(job.wait())
