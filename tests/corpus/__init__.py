"""The byte corpus: what every command line prints and writes, on two revisions of the source.

`PYTHONPATH=tests python -m corpus --base REVISION` runs the command lines of the documentation, of
the demo and of the command-line tests on the base revision and on the working tree. It shows the
first lines that differ in standard output, standard error, exit code and every written file.
"""
