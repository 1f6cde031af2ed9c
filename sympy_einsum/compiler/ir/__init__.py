"""Intermediate representation: instructions over arrays, plans made of them, types of entries."""
