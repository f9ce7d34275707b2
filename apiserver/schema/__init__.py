"""Types of objects: what a body may hold, and what becomes of it.

Used by handlers and registry; plugins get their objects through the registry and need nothing here.

``types.types``     the type graph: :class:`Struct`, :class:`List`, :class:`Map` and scalars, from any source
``builtin.types(minor).kind(group, version, kind)``
                    the type of a built-in kind in a Kubernetes minor (36 = 1.36), None if there is none
``body.decode_object(data, media_type, node, group=, version=, kind=, registered=)``
                    a request body to :class:`decode.Decoded` (``object``, ``strict``), or :class:`failures.DecodeError`
                    whose message is the whole text of the 400 answer
``body.read(data, media_type)``, ``body.decode_body(body, node)``, ``body.unrecognized(...)``
                    the same in steps, for patches and bodies of other kinds
``body.warnings(strict)``, ``body.strict_error(strict)``
                    strict decoding errors as Warning texts and as the one text of ``fieldValidation=Strict``
``decode.decode(value, node)``
                    check and normalise a decoded value, in place
``gojson.read(data)``, ``goyaml.read(data)``
                    text to value and duplicate keys, malformed text refused in Go's words
``quantity.canonical(text)``, ``quantity.parse(text)``, ``times.canonical(text)``
                    one scalar
``openapi``         the OpenAPI documents of the installed resources

Nothing is read or built before it is asked for; what was built is shared by all threads of the process.
"""
