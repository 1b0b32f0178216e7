"""What works on this machine, every kernel included: checks one after the other, each in a process of its own.

README.md names the files and the checks. `examine.examine` is what the command calls.
"""
