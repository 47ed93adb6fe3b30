"""The tests, as a package of their own: another package that installs a top-level ``tests`` cannot hide it."""
