"""For tests of plugins and of programs that use the server. Needs pytest; nothing of the server imports it."""
