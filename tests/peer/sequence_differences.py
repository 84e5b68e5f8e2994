# SPDX-License-Identifier: Apache-2.0
"""Where Nereid's sequences mean to differ from Triton 2.51, by scenario: what each server shows, and
why Nereid's way is the better one."""

SEQUENCE_DIFFERENCES = {}
