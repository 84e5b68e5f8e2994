# SPDX-License-Identifier: Apache-2.0
# tools/wheel/package_tree.py writes _version.py from the version in CMakeLists.txt.
__version__: str
