"""The handlers: one file per verb, and what they share.

The router calls a verb's function with the :class:`apiserver.handlers.scope.Scope` of the endpoint and Falcon's
request and response; the verb calls the resource's storage object and writes the answer in the negotiated form.
"""
