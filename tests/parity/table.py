# SPDX-License-Identifier: Apache-2.0
"""The table: one row for each operation and each kind of valid and invalid request.

A row contains the code of the service. Texts and answers must be the same through all doors. An
intended difference is part of the row: the door, its code and complete text, and the reason.
"""

import rows_access
import rows_infer
import rows_models
import rows_settings
import rows_shared

ROWS = (rows_models.ROWS + rows_settings.ROWS + rows_infer.ROWS + rows_access.ROWS
        + rows_shared.ROWS)
