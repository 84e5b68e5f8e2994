# SPDX-License-Identifier: Apache-2.0
"""The scenarios that test_sequence_replay.py plays on Triton and on Nereid."""

# pylint: disable=unused-import
import sequence_scenarios_flags
import sequence_scenarios_slots
import sequence_scenarios_time
from sequence_scenario import SCENARIOS
