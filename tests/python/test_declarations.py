"""What the package declares for ctypes is what a C compiler says of ferry.h and ferry_inspect.h: test_declarations.py PACKAGES
SOURCE_DIR CC"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

packages, source_dir, compiler = sys.argv[1:4]
sys.path.insert(0, packages)
from ferry import _native  # noqa: E402

ENGINE = pathlib.Path(source_dir) / "engine"
HEADER = re.sub(r"/\*.*?\*/", "", "".join((ENGINE / name).read_text(encoding="utf-8")
                                          for name in ("ferry.h", "ferry_inspect.h")), flags=re.DOTALL)
STRUCTURES = {name: each for name, each in vars(_native).items()
              if isinstance(each, type) and issubclass(each, ctypes.Structure)}
ENUMERATIONS = {  # their names in C: of the type, of what all its constants begin with
    "status": ("FERRY_ERROR_", _native.Status), "quality": ("FERRY_QUALITY_", _native.Quality),
    "language_role": ("FERRY_LANGUAGE_", _native.Role), "split": ("FERRY_SPLIT_", _native.SPLIT),
    "on_loop": ("FERRY_ON_LOOP_", _native.ON_LOOP), "on_number": ("FERRY_ON_NUMBER_", _native.ON_NUMBER),
    "policy": ("FERRY_POLICY_", _native.POLICY),
    "early_stopping": ("FERRY_EARLY_STOPPING_", _native.EARLY_STOPPING), "inspect_stack": ("FERRY_INSPECT_", _native.STACK),
    "inspect_scheme_kind": ("FERRY_INSPECT_", _native.SCHEME_KIND), "inspect_pass": ("FERRY_INSPECT_", _native.PASS),
    "inspect_attention_kind": ("FERRY_INSPECT_", _native.ATTENTION),
}


def c_name(name):
    """InspectShape: ferry_inspect_shape."""
    return "ferry" + re.sub("([A-Z])", r"_\1", name).lower()


def printed_by_c(expressions):
    """The values of integer expressions."""
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "program")
        lines = [f'printf("%lld\\n", (long long)({each}));' for each in expressions]
        source = "\n".join(["#include <stddef.h>", "#include <stdio.h>", '#include "ferry_inspect.h"', "int main(void) {",
                            *lines, "}"])
        subprocess.run([compiler, f"-I{ENGINE}", "-x", "c", "-", "-o", program], input=source, check=True, text=True)
        return list(map(int, subprocess.run([program], check=True, text=True, stdout=subprocess.PIPE).stdout.split()))


class Declarations(unittest.TestCase):
    def test_structures(self):
        self.assertGreaterEqual(len(STRUCTURES), 16)
        expected, asked, names = [], [], []

        def ask(name, value, expression):
            names.append(name), expected.append(value), asked.append(expression)

        for name, structure in STRUCTURES.items():
            own = c_name(name)
            ask(own, ctypes.sizeof(structure), f"sizeof({own})")
            for field, kind in _native.fields(structure()).items():
                at, value = getattr(structure, field), f"(({own} *)0)->{field}"
                ask(f"{own}.{field}: offset", at.offset, f"offsetof({own}, {field})")
                ask(f"{own}.{field}: size", at.size, f"sizeof({value})")
                real, signed = kind in (ctypes.c_float, ctypes.c_double), kind in (ctypes.c_int, ctypes.c_int32, ctypes.c_int64)
                ask(f"{own}.{field}: a real number", int(real), f"_Generic({value}, float: 1, double: 1, default: 0)")
                if real or issubclass(kind, ctypes._SimpleCData) and kind is not ctypes.c_char_p and kind is not ctypes.c_void_p:
                    enumeration = kind is ctypes.c_int and re.search(rf"ferry_\w+ {field};", HEADER)
                    if not enumeration:
                        ask(f"{own}.{field}: signed", int(real or signed), f"(__typeof__({value}))-1 < 0")
        for name, value, found in zip(names, expected, printed_by_c(asked)):
            self.assertEqual(value, found, name)

    def test_fields(self):
        """All of them, in their order."""
        for name, structure in STRUCTURES.items():
            own = c_name(name)
            body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (own, own), HEADER, re.DOTALL).group(1)
            fields = []
            for declaration in body.split(";")[:-1]:
                function = re.search(r"\(\*(\w+)\)", declaration)
                names = [function.group(1)] if function else re.sub(r"\[.*?\]", "", declaration).split(",")
                fields += [re.search(r"\w+$", each.strip()).group(0) for each in names]
            self.assertEqual(list(_native.fields(structure())), fields, own)

    def test_enumerations(self):
        """Every constant, and its value."""
        for name, (prefix, mirrored) in ENUMERATIONS.items():
            body = re.search(r"typedef enum ferry_%s \{(.*?)\} ferry_%s;" % (name, name), HEADER, re.DOTALL).group(1)
            constants = re.findall(r"FERRY_\w+", body)
            values = {constant: value for constant, value in zip(constants, printed_by_c(constants))}
            items = mirrored.items() if isinstance(mirrored, dict) else ((each.name, each.value) for each in mirrored)
            found = {"FERRY_OK" if key == "OK" else prefix + key.upper(): value for key, value in items}
            self.assertEqual(found, values, name)
        self.assertEqual([_native.OPEN_COPY, _native.ALL], printed_by_c(["FERRY_OPEN_COPY", "FERRY_INSPECT_ALL"]))

    def test_functions(self):
        """Number and kind of all parameters."""
        scalars = {"int": ctypes.c_int, "size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32,
                   "uint32_t": ctypes.c_uint32, "float": ctypes.c_float, "void": None,
                   "ferry_ticket": ctypes.c_uint64}
        scalars |= {f"ferry_{name}": ctypes.c_int for name in ENUMERATIONS}
        scalars |= {c_name(name): each for name, each in STRUCTURES.items()}
        pointers = {name: ctypes.POINTER(kind) for name, kind in scalars.items() if kind is not None}
        pointers |= {"char": ctypes.c_char_p, "void": ctypes.c_void_p, "double": ctypes.POINTER(ctypes.c_double)}

        def ctype(declared):
            base, stars = re.fullmatch(r"\s*(?:const\s+)?(\w+)\s*(\**)\s*\w*\s*", declared).groups()
            if len(stars) == 2:
                return ctypes.POINTER(pointers.get(base, ctypes.c_void_p) if base == "int32_t" else ctypes.c_void_p)
            return pointers.get(base, ctypes.c_void_p) if stars else scalars[base]

        prototypes = {name: (result, parameters) for result, name, parameters in
                      re.findall(r"FERRY_API ([\w ]+\**)\s*(ferry_\w+)\(([^;]*)\);", HEADER)}
        self.assertGreater(len(prototypes), 70)
        for name, (result, parameters) in _native.FUNCTIONS.items():
            declared = [each for each in prototypes[name][1].split(",") if each.strip() != "void"]
            self.assertIs(result, ctype(prototypes[name][0]), name)
            self.assertEqual(parameters, [ctype(each) for each in declared], name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
