# SPDX-License-Identifier: Apache-2.0
"""The table: one row for each operation and each kind of right and wrong.

A row says which code the service answers with; texts and answers must be the same through all its
doors. What differs on purpose stands in the row: the door, its code and its whole text, and why.
"""

import rows_infer
import rows_models
import rows_settings

ROWS = rows_models.ROWS + rows_settings.ROWS + rows_infer.ROWS
