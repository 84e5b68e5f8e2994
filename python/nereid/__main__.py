# SPDX-License-Identifier: Apache-2.0
"""`python -m nereid` is the program `nereid`."""

import os
import sys

from nereid import paths

if __name__ == "__main__":
    if sys.executable:
        # Python models run with this interpreter, unless a setting names another one.
        os.environ.setdefault("NEREID_PYTHON_INTERPRETER", sys.executable)
    os.execv(paths.program(), ["nereid", *sys.argv[1:]])
