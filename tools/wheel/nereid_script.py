#!python
# SPDX-License-Identifier: Apache-2.0
# Replaces itself by the server's program, which the package contains. Under the name tritonserver the
# program takes Triton's command line. The package is found, not imported. Python models run with the interpreter
# of the package, unless a setting names another one.
import importlib.util
import os
import sys

spec = importlib.util.find_spec("nereid")
if spec is None or not spec.submodule_search_locations:
    sys.exit("error: the package nereid is not installed for " + sys.executable)
program = os.path.join(spec.submodule_search_locations[0], "bin", "nereid")
if sys.executable:
    os.environ.setdefault("NEREID_PYTHON_INTERPRETER", sys.executable)
try:
    os.execv(program, [os.path.basename(sys.argv[0]), *sys.argv[1:]])
except OSError as error:
    sys.exit(f"error: {program}: {error.strerror}")
