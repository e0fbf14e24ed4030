"""The functions in a Jupyter kernel without ipywidgets, on tables that an engine reads itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

ROWS = 120_000  # more than an engine without a progress bar of its own reads
TABLE = f"""
import sys
sys.modules["ipywidgets"] = None  # wherever these tests run
import sievert
rows = range({ROWS})
data = {{"zip": [n % 50 for n in rows], "age": [n % 7 for n in rows], "job": [n % 3 for n in rows]}}
with open("table.csv", "w") as file:
    file.write("zip,age,job\\n")
    file.writelines(f"{{10_000 + n % 50}},{{n % 7}},{{n % 3}}\\n" for n in rows)
roles = {{"quasi": ["zip", "age"], "sensitive": ["job"]}}
policy = {{
    "roles": {{"quasi": ["zip", "age"], "sensitive": ["job"], "rows_are_people": True}},
    "limits": {{"k_anonymity": {{"min": 5}}}},
}}
assert sys.modules["__main__"].get_ipython().config["IPKernelApp"]
"""
CALLS = {
    "assess": "print(sievert.assess(data, **roles, quick=True))",
    "count": "print(sievert.count(data, **roles, out='counts.sievert'))",
    "protect": "print(sievert.protect(data, policy=policy, out='release.csv'))",
    "assess a file": "print(sievert.assess('table.csv', **roles, quick=True))",
}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingKernelClient]:
    """A real kernel in a folder of its own, which keeps no history of anybody."""
    folder = tmp_path_factory.mktemp("kernel")
    places = {name: str(folder) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR")}
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(folder), env={**os.environ, **places})
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        assert run(client, TABLE)["status"] == "ok"
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(kernel: BlockingKernelClient, code: str) -> dict[str, Any]:
    """What the kernel answers after it has run `code`."""
    answer = kernel.execute_interactive(code, timeout=120, output_hook=lambda message: None)
    content: dict[str, Any] = answer["content"]
    return content


@pytest.mark.slow
@pytest.mark.parametrize("what", CALLS)
def test_larger_data_in_a_kernel_without_widgets(what: str, kernel: BlockingKernelClient) -> None:
    """DuckDB refuses its progress bar there; a command does not depend on it."""
    answer = run(kernel, CALLS[what])
    assert answer["status"] == "ok", answer.get("evalue")
