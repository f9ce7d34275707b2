"""Makes ``recorded.json``: for each kind, the protobuf bytes and the JSON that Go's own types make of one object.

The published module k8s.io/api carries such files for its compatibility tests (``testdata/HEAD/<kind>.pb`` and
``.json``); every field of every kind is set in them. Run it with a checkout of the release to be measured by:

    python -m tests.protobuf.record CHECKOUT
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

RECORDED = Path(__file__).with_name("recorded.json")


def main() -> None:
    """Write the file anew."""
    lines = []
    for path in sorted(Path(sys.argv[1], "testdata", "HEAD").glob("*.pb")):
        data = base64.b64encode(path.read_bytes()).decode()
        found = {"pb": data, "json": json.loads(path.with_suffix(".json").read_text())}
        lines.append(f"{json.dumps(path.stem)}: {json.dumps(found, separators=(',', ':'))}")
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
