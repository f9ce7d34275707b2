"""The parts of the garbage collector: who belongs to whom, what becomes of it, and the changes that this takes."""
