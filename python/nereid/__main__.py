# SPDX-License-Identifier: Apache-2.0
"""`python -m nereid` is the program `nereid`."""

import os
import sys

from nereid import paths

if __name__ == "__main__":
    os.execv(paths.program(), ["nereid", *sys.argv[1:]])
