# SPDX-License-Identifier: Apache-2.0
"""Runs one instance of a Python model: python3 .../nereid_worker, started by the Python backend with
the work socket as descriptor 3 and the call socket as descriptor 4."""

import os
import sys

# This file is run by its path: the package has to be found beside it.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from nereid_worker.start import main  # noqa: E402: after the change of the path

if __name__ == "__main__":
    main()
