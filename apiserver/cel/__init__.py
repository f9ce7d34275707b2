"""Public: Kubernetes' Common Expression Language. Imports nothing of ours but ``apiserver.api``.

- ``rules.Rules``: the rules of a custom resource's schema, evaluated on an object;
- ``definition.rule_errors``: the same rules, checked when their schema is written;
- ``environment``: compiling and evaluating a single expression, with the libraries in ``libraries/``.

From a text to a result: ``environment`` checks with the types of ``schema_types``; ``literals`` checks what the type
checker does not; ``wording`` gives errors upstream's texts; ``cost`` says what it may cost; ``values`` makes CEL's
values of JSON's. Modules are imported by name, so that a server without expressions loads none of them.
"""
