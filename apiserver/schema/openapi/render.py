"""Operations as the path items of an OpenAPI document, v3 or v2.

Takes :class:`~apiserver.schema.openapi.operations.Operation`, adds the schemas they name to the document, and hands on
the ``paths`` object.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from typing import Any

import orjson

from apiserver.schema.openapi.model import Served
from apiserver.schema.openapi.operations import JSON, PARAMETERS, PROTOBUF, YAML, Operation, Parameter
from apiserver.schema.openapi.schemas import Schemas

OK = {200: "OK", 201: "Created", 202: "Accepted"}
UNAUTHORIZED = {"description": "Unauthorized"}


def _parameter_type(parameter: Parameter) -> dict[str, Any]:
    return {"type": parameter.type, "uniqueItems": True}


class Renderer:
    """Common to both versions: which schema an operation's body and answers have."""

    def __init__(self, schemas: Schemas, protobuf: bool) -> None:
        self.schemas = schemas
        self.media_types = (JSON, PROTOBUF, YAML) if protobuf else (JSON, YAML)
        self.paths: dict[str, Any] = {}

    def add(self, operations: Iterable[Operation], served: Served) -> None:
        """Add the operations of one resource."""
        for operation in operations:
            item = self.paths.setdefault(operation.path, {})
            item[operation.method] = self.operation(operation, served)
            if operation.shared:
                item["parameters"] = [self.parameter(parameter) for parameter in operation.shared]

    def schema(self, what: Any, served: Served) -> dict[str, Any]:
        """The schema that ``answer`` or ``body`` of an operation names."""
        match what:
            case "kind":
                return self.schemas.served(served)
            case "list":
                return self.schemas.served_list(served)
            case "status":
                return self.schemas.meta("Status")
            case "event":
                return self.schemas.meta("WatchEvent")
            case "patch":
                return self.schemas.meta("Patch")
            case "delete":
                return self.schemas.meta("DeleteOptions")
            case "text":
                return {"type": "string"}
            case group, version, kind:
                return self.schemas.kind(group, version, kind)
        raise ValueError(f"no schema for {what!r}")

    def produced(self, operation: Operation) -> list[str]:
        """The media types of the answers."""
        if operation.anything:
            return ["*/*"]
        types = list(self.media_types)
        if operation.streams:
            types += [f"{media_type};stream=watch" for media_type in types if media_type != YAML]
        return sorted(types)

    def common(self, operation: Operation) -> dict[str, Any]:
        group, version, kind = operation.gvk
        return {
            "tags": [operation.tag],
            "description": operation.description,
            "operationId": operation.id,
            "x-kubernetes-action": operation.action,
            "x-kubernetes-group-version-kind": {"group": group, "kind": kind, "version": version},
        }

    def operation(self, operation: Operation, served: Served) -> dict[str, Any]:
        raise NotImplementedError

    def parameter(self, parameter: Parameter) -> dict[str, Any]:
        raise NotImplementedError

    def discovery(self, path: str, name: str, label: str, text: str, kind: str) -> None:
        """Add the GET of a discovery document; ``kind`` is its kind in meta/v1."""
        raise NotImplementedError


class RendererV3(Renderer):
    def parameter(self, parameter: Parameter) -> dict[str, Any]:
        rendered: dict[str, Any] = {
            "name": parameter.name,
            "in": parameter.place,
            "description": parameter.description,
            "schema": _parameter_type(parameter),
        }
        if parameter.place == "path":
            rendered["required"] = True
        return rendered

    def operation(self, operation: Operation, served: Served) -> dict[str, Any]:
        rendered = self.common(operation)
        if operation.own:
            rendered["parameters"] = [self.parameter(PARAMETERS[name]) for name in operation.own]
        if operation.body:
            content = {"schema": self.schema(operation.body, served)}
            types = operation.patch_types or ("*/*",)
            needed = {} if operation.body == "delete" else {"required": True}
            rendered["requestBody"] = {"content": dict.fromkeys(types, content), **needed}
        answer = {"schema": self.schema(operation.answer, served)}
        content = dict.fromkeys(self.produced(operation), answer)
        responses: dict[str, Any] = {
            str(code): {"description": OK[code], "content": content} for code in operation.codes
        }
        rendered["responses"] = {**responses, "401": UNAUTHORIZED}
        return rendered

    def discovery(self, path: str, name: str, label: str, text: str, kind: str) -> None:
        reference = {"schema": self.schemas.meta(kind)}
        self.paths[path] = {
            "get": {
                "tags": [label],
                "description": text,
                "operationId": name,
                "responses": {
                    "200": {"description": "OK", "content": dict.fromkeys(self.media_types, reference)},
                    "401": UNAUTHORIZED,
                },
            }
        }


class RendererV2(Renderer):
    """Parameters are shared by the whole document and referred to by name and hash, as upstream does."""

    def __init__(self, schemas: Schemas, protobuf: bool) -> None:
        super().__init__(schemas, protobuf)
        self.parameters: dict[str, Any] = {}

    def parameter(self, parameter: Parameter) -> dict[str, Any]:
        rendered: dict[str, Any] = {
            **_parameter_type(parameter),
            "name": parameter.name,
            "in": parameter.place,
            "description": parameter.description,
        }
        if parameter.place == "path":
            rendered["required"] = True
        return self._shared(parameter.name, rendered)

    def _shared(self, name: str, rendered: dict[str, Any]) -> dict[str, Any]:
        digest = hashlib.sha256(orjson.dumps(rendered, option=orjson.OPT_SORT_KEYS)).digest()[:6]
        key = f"{name}-{base64.urlsafe_b64encode(digest).decode()}"
        self.parameters[key] = rendered
        return {"$ref": f"#/parameters/{key}"}

    def operation(self, operation: Operation, served: Served) -> dict[str, Any]:
        rendered = self.common(operation)
        parameters = [self.parameter(PARAMETERS[name]) for name in operation.own]
        if operation.body:
            needed = {} if operation.body == "delete" else {"required": True}
            body = {"name": "body", "in": "body", "schema": self.schema(operation.body, served), **needed}
            parameters.insert(0, self._shared("body", body))
        if parameters:
            rendered["parameters"] = parameters
        rendered["consumes"] = list(operation.patch_types) or ["*/*"]
        rendered["produces"] = self.produced(operation)
        rendered["schemes"] = ["https"]
        answer = self.schema(operation.answer, served)
        responses: dict[str, Any] = {str(code): {"description": OK[code], "schema": answer} for code in operation.codes}
        rendered["responses"] = {**responses, "401": UNAUTHORIZED}
        return rendered

    def discovery(self, path: str, name: str, label: str, text: str, kind: str) -> None:
        self.paths[path] = {
            "get": {
                "tags": [label],
                "description": text,
                "operationId": name,
                "consumes": list(self.media_types),
                "produces": list(self.media_types),
                "schemes": ["https"],
                "responses": {
                    "200": {"description": "OK", "schema": self.schemas.meta(kind)},
                    "401": UNAUTHORIZED,
                },
            }
        }
