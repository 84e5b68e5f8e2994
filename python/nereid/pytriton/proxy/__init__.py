# SPDX-License-Identifier: Apache-2.0
"""The proxy of a function that another process has: a Python model. RemoteTriton sends `model` and
`wire` to the server, where they run without this package."""
