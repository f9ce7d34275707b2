"""The words that core and plugins share. Imports nothing else of the project."""
