"""The body formats of the API, on libraries: JSON by orjson, YAML by PyYAML.

Used by negotiation, by errors and by plugins that answer themselves. A serializer turns a JSON-like value into bytes;
reading bodies (with upstream's texts for what is malformed) is :mod:`apiserver.schema.decode`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Serializer:
    """One body format.

    ``dump(value, pretty)`` returns the whole body. ``raw_json`` tells that bytes which are JSON already can be sent
    as they are.
    """

    name: str
    content_type: str
    dump: Callable[[Any, bool], bytes]
    raw_json: bool = False

    def encode(self, value: Any, pretty: bool = False) -> bytes:
        """``value`` (dicts, lists, scalars) as a body."""
        return self.dump(value, pretty)


def _json(value: Any, pretty: bool) -> bytes:
    # COMPAT: the compact form ends in a newline, the indented one does not
    if pretty:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def _yaml(value: Any, pretty: bool) -> bytes:  # noqa: ARG001 - YAML is always pretty
    import yaml  # most processes never write YAML

    # JSON scalars that are not plain types (orjson fragments) can't be dumped: go through JSON once.
    plain = orjson.loads(orjson.dumps(value))
    return bytes(
        yaml.dump(
            plain,
            Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),
            default_flow_style=False,
            allow_unicode=True,
            sort_keys=True,
            width=1 << 30,
            encoding="utf-8",
        )
    )


JSON = Serializer("json", "application/json", _json, raw_json=True)
YAML = Serializer("yaml", "application/yaml", _yaml)
SERIALIZERS: dict[str, Serializer] = {s.content_type: s for s in (JSON, YAML)}
"""By content type; what knows schemas (protobuf) is added by :mod:`apiserver.handlers.protobuf`."""

_PRETTY_AGENTS = ("curl", "Wget", "Mozilla/5.0")


def wants_pretty(environ: Mapping[str, Any]) -> bool:
    """Whether the answer is indented: ``?pretty=`` decides, else the User-Agent of tools that people type.

    COMPAT: endpoints/handlers/negotiation isPrettyPrint.
    """
    query = environ.get("QUERY_STRING", "")
    if "pretty=" in query:
        value = next((p[7:] for p in query.split("&") if p.startswith("pretty=")), None)
        if value is not None:
            return value not in ("false", "0", "f", "F", "FALSE", "False")
    agent: str = environ.get("HTTP_USER_AGENT", "")
    return agent.startswith(_PRETTY_AGENTS)


def for_errors(environ: Mapping[str, Any]) -> tuple[Serializer, bool]:
    """The serializer for an error body: the first format in Accept that we know, else JSON (errors are never 406)."""
    accept = environ.get("HTTP_ACCEPT", "")
    if "yaml" in accept or "protobuf" in accept:
        for part in accept.split(","):
            media = part.partition(";")[0].strip()
            if media in ("*/*", JSON.content_type):
                break
            if media in SERIALIZERS:
                return SERIALIZERS[media], False
    return JSON, wants_pretty(environ)
