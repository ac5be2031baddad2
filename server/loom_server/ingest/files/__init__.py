"""Files and folders into memories.

    path -> walk -> read (by kind) -> rows of memory.set -> load (batches of 500)

Every reader is a generator of `Row` and `Fault`: what cannot be read is named with its file
and line, and the rest goes on. Keys come from the file's place under the folder that was given,
so a second run of the same files finds every row stored already and adds nothing.
"""
