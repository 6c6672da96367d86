#!/usr/bin/env python3
"""Plants the faults of plant_faults.txt, one at a time, in a copy of the tree, and says which tests fail.

    tests/plant.py                      all of them: an hour on two idle cores
    tests/plant.py --only 12 --only 40  some, by number
    tests/plant.py --list               their numbers
    tests/plant.py --check              only whether each old text still occurs exactly once

The tests nearest to a fault run first, then all others, until one fails; first without the large golden data (--data,
default: the folder that CMake finds), then, if nothing failed, with it. --folder keeps the copy and what was built.
"""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)

# The tests that are near to a room, as ctest -R has it.
NEAR = {
    "base": "test_(base|memory|utf8|printable|halves|new_file|files|pool|quality)|cli_hostile_text",
    "tokenizer": "test_(tokenizer|tokenizer_json|text_rules|bpe|subwords|moses|sentencepiece|pieces|punctuation|ranges|sentences|split|vocabulary|text|score|unloading)",
    "kernels": "test_(kernels|kernels_i8|limits_i8|rows|heads|inputs_i8|int8|logit_bound|shared_products|import_write)",
    "position": "test_(huggingface|positions|encodings.*|position_limits|inspect_position|model_keys)",
    "graph": "test_(memory|graph|graph_blocks|hidden|alignment|force|steering)",
    "search": "test_(steering_golden|search.*|sample|logit_bound|coarse_output|shortlist|force|steering|languages)",
    "file": "test_(gguf|model_file|coarse_output|model_keys|schema|shortlist|opening|damaged_numbers)",
    "api": "test_(glossary_lines|terms|service.*|failing_service|row|unknown_text|hosts|parts|text|score|languages|quality|numbers|translate|arguments|steering|opening)",
    "inspect": "test_(graph_blocks|hidden|profile|untrained|inspect_position|model_keys)|cli_models",
    "containers": "test_(bpe_codes|zip|npz|safetensors|ctranslate2_file|yaml|lexicon|torch|import_(weights|generation))",
    "plan": "test_(import_write|import_positions|language_pair|import_export|import_weights|import_lists)",
    "families": "test_(huggingface_variants|tokenizer_json|small_families|import_.*|huggingface|targets|other_vocabularies)",
    "tools": "cli_(input_encoding|cache|lines|files|jobs|output|options|conversion)|test_conversion_cache",
    "documents": "test_(api|cases|document|json|kept_text|markdown|tags)|documents.*|cli_documents.*",
    "lab": "test_statistics",
}
# They test how the tree is laid out and installed, not what it computes.
LEFT_OUT = "check_.*|plant_list|installable|installed|rust|abi|gguf_package"

Fault = collections.namedtuple("Fault", "number room file old new")


def read_faults():
    faults, old, new, head = [], [], [], None

    def finish():
        if head is not None:
            faults.append(Fault(len(faults) + 1, *head, "\n".join(old), "\n".join(new)))

    with open(os.path.join(HERE, "plant_faults.txt"), encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line[:1] == "-":
                old.append(line[2:])
            elif line[:1] == "+":
                new.append(line[2:])
            elif line and line[0] != "#":
                finish()
                head, old, new = line.split(), [], []
    finish()
    return faults


def check(faults):
    """Prints what is wrong with the list; returns whether nothing is."""
    sound = True
    for fault in faults:
        with open(os.path.join(TREE, fault.file), encoding="utf-8") as file:
            count = file.read().count(fault.old)
        if fault.room not in NEAR or not fault.old or fault.old == fault.new:
            print(f"fault {fault.number}: not a room of this script, or no change")
            sound = False
        if count != 1:
            print(f"fault {fault.number}: {fault.file}: expected once, found {count} times: {fault.old}")
            sound = False
    return sound


class Copy:
    """The tree, and a build of it."""

    def __init__(self, folder, data):
        self.tree, self.build, self.data = folder, os.path.join(folder, "build"), data
        names = subprocess.run(["git", "-C", TREE, "ls-files", "-z", "-co", "--exclude-standard"], check=True,
                               capture_output=True, text=True).stdout.split("\0")
        for name in filter(None, names):
            self.copy(name)
        others, copied = os.path.join(TREE, "third_party"), os.path.join(self.tree, "third_party")
        if os.path.isdir(others):
            shutil.rmtree(copied, ignore_errors=True)
            shutil.copytree(others, copied, symlinks=True)
        self.environment = dict(os.environ, CCACHE_BASEDIR=folder, CCACHE_NOHASHDIR="1")
        for name in ("FERRY_SHARED_DATA", "CI"):
            self.environment.pop(name, None)
        self.run("cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DFERRY_TESTS=ON", *launchers())

    def copy(self, name):
        """From the tree, unless it is the same: what is newer is built again."""
        source, target = os.path.join(TREE, name), os.path.join(self.tree, name)
        if not os.path.exists(source):
            return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(source, "rb") as file:
            wanted = file.read()
        if os.path.exists(target):
            with open(target, "rb") as file:
                if file.read() == wanted:
                    return
        shutil.copy(source, target)

    def run(self, *command):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, errors="replace",
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def use_data(self, data):
        self.run("cmake", f"-DFERRY_SHARED_DATA={data}", self.build)

    def targets(self, pattern):
        """What has to be built for these tests: their labels are programs; others have a test's name, or run more than one."""
        listed = json.loads(self.run("ctest", "--test-dir", self.build, "--show-only=json-v1", "-R", f"^({pattern})$"))
        programs = set()
        for test in listed["tests"]:
            labels = [name for entry in test["properties"] if entry["name"] == "LABELS" for name in entry["value"]]
            if labels:
                programs.update(labels)
            elif test["name"].startswith("test_"):
                programs.add(test["name"])
            else:
                programs.update(("ferry", "translate_document"))
        return sorted(programs)

    def test(self, pattern, without, targets):
        """Builds and runs these tests; the name of the first that fails, or None."""
        self.run("cmake", "--build", self.build, *[word for name in targets for word in ("--target", name)])
        done = subprocess.run(["ctest", "--test-dir", self.build, "-R", f"^({pattern})$", "-E", f"^({without})$",
                               "--stop-on-failure", "-j", str(os.cpu_count())], env=self.environment,
                              capture_output=True, text=True, errors="replace", check=False)
        if done.returncode == 0:
            return None
        failed = re.search(r"^\s*\d+ - (\S+) \((?!Skipped|Disabled)", done.stdout, re.M)
        if failed is None:
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        return failed.group(1)

    def catch(self, room):
        """The first test that fails, the nearest first, or None."""
        return (self.test(NEAR[room], LEFT_OUT, self.targets(NEAR[room])) or
                self.test(".*", f"{LEFT_OUT}|{NEAR[room]}", ["all"]))

    def plant(self, fault):
        """Returns the test that catches the fault, or None, and whether it needed the data."""
        path = os.path.join(self.tree, fault.file)
        with open(path, encoding="utf-8") as file:
            sound = file.read()
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(sound.replace(fault.old, fault.new))
            caught = self.catch(fault.room)
            if caught is not None or not self.data:
                return caught, False
            self.use_data(self.data)
            return self.catch(fault.room), True
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(sound)
            if self.data:
                self.use_data("")


def launchers():
    if shutil.which("ccache") is None:
        return []
    return [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]


def plant_all(copy, faults):
    without = with_data = 0
    for fault in faults:
        try:
            caught, data = copy.plant(fault)
        except RuntimeError as error:
            print(f"{fault.number:3} {fault.file:48} CANNOT BE PLANTED\n{error}", flush=True)
            continue
        without += caught is not None and not data
        with_data += caught is not None
        print(f"{fault.number:3} {fault.file:48} {caught or 'NOT CAUGHT'}{' (data)' if caught and data else ''}",
              flush=True)
    count = len(faults)
    print(f"caught without the large golden data: {without} of {count}, {100 * without / count:.1f} %")
    if copy.data:
        print(f"caught with it: {with_data} of {count}, {100 * with_data / count:.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, action="append", metavar="N")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--folder")
    parser.add_argument("--data", default=os.environ.get("FERRY_SHARED_DATA", os.path.join(TREE, "..", "shared")))
    arguments = parser.parse_args()
    faults = read_faults()
    if not check(faults):
        return 1
    if arguments.check:
        print(f"{len(faults)} faults can be planted")
        return 0
    if arguments.only:
        faults = [fault for fault in faults if fault.number in arguments.only]
    if arguments.list:
        for fault in faults:
            print(f"{fault.number:3} {fault.room:10} {fault.file}\n    - {fault.old}\n    + {fault.new}")
        return 0
    data = os.path.realpath(arguments.data) if os.path.isdir(arguments.data) else ""
    with tempfile.TemporaryDirectory(prefix="ferry-plant.") as scratch:
        # In a folder of its own: CMake looks for the golden data beside the tree.
        copy = Copy(os.path.join(os.path.realpath(arguments.folder or scratch), "tree"), data)
        if not arguments.only:
            copy.run("cmake", "--build", copy.build)
            failed = copy.test(".*", LEFT_OUT, ["all"])
            if failed is not None:
                print(f"{failed} fails without a fault")
                return 1
        plant_all(copy, faults)
    return 0


if __name__ == "__main__":
    sys.exit(main())
