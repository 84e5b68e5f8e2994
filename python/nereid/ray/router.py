# SPDX-License-Identifier: Apache-2.0
"""Which replica gets a request: those of one sequence go to one replica."""

from __future__ import annotations

import time
from typing import Any, Optional

from ray.serve.experimental.consistent_hash_router import ConsistentHashRouter
from ray.serve.request_router import PendingRequest, ReplicaID, RunningReplica

from nereid.ray.sessions import SessionTable


class SequenceRouter(ConsistentHashRouter):  # type: ignore[misc]
    """Sends the requests with one session id (the header `x-session-id`) to one replica as long as
    that replica runs, also while others come and go. A session whose replica is gone goes to
    another one, whose engine answers that the sequence must begin with START. Requests without a
    session id are spread evenly.

    Each proxy and each handle has a router of its own. A new session goes where the hash of its id
    says, so the routers agree on it while the set of replicas stays."""

    _sessions: Optional[SessionTable] = None

    def _table(self) -> SessionTable:
        if self._sessions is None:
            self._sessions = SessionTable()
        return self._sessions

    async def choose_replicas(
        self,
        candidate_replicas: list[RunningReplica],
        pending_request: Optional[PendingRequest] = None,
    ) -> list[list[RunningReplica]]:
        """Returns the replicas that may get a request, in groups; those of the first first."""
        session = pending_request.metadata.session_id if pending_request is not None else ""
        if session:
            owner = self._replicas.get(self._table().owner(session, time.monotonic()))
            if owner is not None:
                assert pending_request is not None
                pending_request.routing_context.should_backoff = True
                return [[owner]]
        ranks: list[list[RunningReplica]] = await super().choose_replicas(
            candidate_replicas, pending_request
        )
        # A new session waits for its replica rather than to start where no other router looks.
        return ranks[:1] if session else ranks

    def on_request_routed(
        self, pending_request: PendingRequest, replica_id: ReplicaID, result: Any
    ) -> None:
        """Notes which replica has the session."""
        super().on_request_routed(pending_request, replica_id, result)
        session = pending_request.metadata.session_id
        if session:
            self._table().set_owner(session, replica_id, time.monotonic())
