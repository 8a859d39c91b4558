"""One file an agent command line: how its events are read and its answers written."""
