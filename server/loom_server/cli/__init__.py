"""A person's shell: one command a file.

data on stdout (`--json` for programs), everything else on stderr
exit codes: 0 done, 1 failed, 2 used wrongly, 3 searched and abstained
"""
