"""For tests of plugins and of programs that use the server. Nothing of the server imports it.

The contract suites and the fixtures need pytest.
"""
