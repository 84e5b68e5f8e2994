# SPDX-License-Identifier: Apache-2.0
"""Where Nereid's scheduling means to differ from Triton 2.51, by scenario: what each server shows
(the parts of replay.Seen), and why Nereid's way is the better one."""

DIFFERENCES = {}
