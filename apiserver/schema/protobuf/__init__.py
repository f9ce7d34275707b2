"""Kubernetes' protobuf encoding: objects to and from ``application/vnd.kubernetes.protobuf``.

``messages``   message classes by full name, from the published field numbers, made as they are needed
``plans``      how a message and a type of the type graph correspond, compiled once per type
``envelope``   the ``k8s\\0`` prefix and ``runtime.Unknown`` around a message, and watch frames
``codec``      :class:`codec.ProtobufCodec`: a JSON-like object to bytes and back

Go clients send and ask for this encoding by default for built-in kinds. Custom resources have no messages.
"""

from __future__ import annotations
