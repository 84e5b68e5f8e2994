# SPDX-License-Identifier: Apache-2.0
"""Python functions as models: nereid.bind and nereid.pytriton share this package."""
