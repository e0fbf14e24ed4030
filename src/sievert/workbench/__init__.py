"""The workbench: the whole job in a browser, on one's own machine; it computes nothing itself.

Every number is the JSON of a `sievert` command that runs as a child process.
"""
