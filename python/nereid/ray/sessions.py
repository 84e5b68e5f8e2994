# SPDX-License-Identifier: Apache-2.0
"""The memory of a router."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any


class SessionTable:
    """Which replica has a session. Bounded: the session that was not used for the longest time goes
    first, and sessions that were not used for `idle_s` seconds are forgotten."""

    def __init__(self, limit: int = 100_000, idle_s: float = 600.0) -> None:
        self._limit = limit
        self._idle_s = idle_s
        self._owners: OrderedDict[str, tuple[Any, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._owners)

    def owner(self, session: str, now: float) -> Any:
        """Returns the owner of a session; None if it has none. now: seconds."""
        found = self._owners.get(session)
        if found is None or now - found[1] > self._idle_s:
            return None
        return found[0]

    def set_owner(self, session: str, owner: Any, now: float) -> None:
        """Notes the owner of a session, which is used now."""
        self._owners[session] = (owner, now)
        self._owners.move_to_end(session)
        while self._owners and (
            len(self._owners) > self._limit
            or now - next(iter(self._owners.values()))[1] > self._idle_s
        ):
            self._owners.popitem(last=False)
