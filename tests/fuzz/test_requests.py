"""Twenty thousand requests at random, the same ones each time: no failure, no hang, answers that make sense."""

from __future__ import annotations

import pytest

from apiserver.testing.server import LocalServer
from tests.fuzz.traffic import Traffic

SEEDS = range(10)
REQUESTS = 2000
# Controllers would change objects between two answers; what runs beside the requests has tests of its own.
FLAGS = ("--runtime-config=api/all=true", "--controllers=", "--disable-admission-plugins=ServiceAccount")


@pytest.mark.parametrize("seed", SEEDS)
def test_every_answer_to_requests_at_random_is_one_that_a_client_understands(seed: int) -> None:
    with LocalServer(*FLAGS) as server:
        traffic = Traffic(server, seed)
        traffic.run(REQUESTS)
        assert traffic.written > REQUESTS / 40
        assert {200, 201, 400, 404, 409, 422} <= set(traffic.codes)
        assert server.get("/readyz").status == 200
