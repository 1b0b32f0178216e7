"""The dictionary of Debian's flite, asked directly: a hundred thousand words in seconds, each by itself.

How the program says a word in a sentence of one word differs in 1 of 70 (what it spells letter by letter, "use").
"""

import ctypes

LIBRARIES = ("libflite.so.1", "libflite_usenglish.so.1", "libflite_cmulex.so.1")


class Dictionary:
    def __init__(self):
        self.flite, _, words = [ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL) for name in LIBRARIES]
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        for function, given, made in (
            (words.cmu_lex_init, [], pointer),
            (self.flite.lex_lookup, [pointer, text, text, pointer], pointer),
            (self.flite.val_car, [pointer], pointer),
            (self.flite.val_cdr, [pointer], pointer),
            (self.flite.val_string, [pointer], text),
            (self.flite.delete_val, [pointer], None),
        ):
            function.argtypes, function.restype = given, made
        self.words = words.cmu_lex_init()

    def pronounce(self, word):
        """-> phones without their stress; by flite's own letter rules where the dictionary has no entry"""
        found = at = self.flite.lex_lookup(self.words, word.encode(), None, None)
        phones = []
        while at:
            phones.append(self.flite.val_string(self.flite.val_car(at)).decode().rstrip("012"))
            at = self.flite.val_cdr(at)
        self.flite.delete_val(found)
        return phones
