"""scikit-build-core, with a wheel that names the oldest C library it runs with: what is compiled with glibc 2.35 or 2.36
needs nothing that 2.35 lacks (a test looks); what is compiled with another one, that one."""
import os
import platform

from scikit_build_core.build import *  # noqa: F403

library, version = platform.libc_ver()
if library == "glibc":
    minor = version.split(".")[1]
    oldest = "35" if minor == "36" else minor
    os.environ["_PYTHON_HOST_PLATFORM"] = f"manylinux_2_{oldest}_{platform.machine()}"
