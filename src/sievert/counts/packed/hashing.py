"""SHA-256 of many short texts, compiled: the hashes of combinations of values."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.numerics.acceleration import jit

TOGETHER = 1 << 20  # combinations that are hashed at a time


def _roots(power: int, count: int) -> Ints:
    """The first 32 bits of the fractional parts of the roots of the first `count` primes."""
    primes = [n for n in range(2, 312) if all(n % d for d in range(2, n))][:count]
    roots = [_root(prime << 32 * power, power) for prime in primes]
    return np.array([root & 0xFFFFFFFF for root in roots], dtype=np.uint32)


def _root(number: int, power: int) -> int:
    """The root of a whole number, rounded down."""
    low = 0
    high = 1 << (number.bit_length() // power + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**power <= number:
            low = middle
        else:
            high = middle - 1
    return low


ROUNDS = _roots(3, 64)
START = _roots(2, 8)


@jit
def _compress(state: Ints, block: Ints, words: Ints, rounds: Ints) -> None:
    """Process one block of SHA-256."""
    for i in range(16):
        words[i] = (
            (np.uint32(block[4 * i]) << np.uint32(24))
            | (np.uint32(block[4 * i + 1]) << np.uint32(16))
            | (np.uint32(block[4 * i + 2]) << np.uint32(8))
            | np.uint32(block[4 * i + 3])
        )
    for i in range(16, 64):
        x = words[i - 15]
        y = words[i - 2]
        low = _rotate(x, 7) ^ _rotate(x, 18) ^ (x >> np.uint32(3))
        high = _rotate(y, 17) ^ _rotate(y, 19) ^ (y >> np.uint32(10))
        words[i] = np.uint32(words[i - 16] + low + words[i - 7] + high)
    a, b, c, d, e, f, g, h = state
    for i in range(64):
        one = _rotate(e, 6) ^ _rotate(e, 11) ^ _rotate(e, 25)
        first = np.uint32(h + one + ((e & f) ^ (~e & g)) + rounds[i] + words[i])
        zero = _rotate(a, 2) ^ _rotate(a, 13) ^ _rotate(a, 22)
        second = np.uint32(zero + ((a & b) ^ (a & c) ^ (b & c)))
        h = g
        g = f
        f = e
        e = np.uint32(d + first)
        d = c
        c = b
        b = a
        a = np.uint32(first + second)
    for i, word in enumerate((a, b, c, d, e, f, g, h)):
        state[i] = np.uint32(state[i] + word)


@jit
def _rotate(word: Any, by: int) -> Any:
    return np.uint32((word >> np.uint32(by)) | (word << np.uint32(32 - by)))


@jit
def _hash_all(
    start: Ints, texts: Ints, bounds: Ints, firsts: Ints, codes: Ints, constants: Ints, out: Ints
) -> None:
    """Write the first 64 bits of the digests of the start and one text of each column.

    Text t of a column is at bounds[first + t] of the texts; the constants are ROUNDS and START.
    """
    rounds = constants[:64]
    initial = constants[64:]
    state = np.empty(8, np.uint32)
    words = np.empty(64, np.uint32)
    block = np.zeros(64, np.uint8)
    whole = len(start) // 64  # blocks that all messages begin with
    for b in range(whole):
        if b == 0:
            state[:] = initial
        _compress(state, start[64 * b : 64 * b + 64], words, rounds)
    begun = state.copy() if whole else initial
    for j in range(codes.shape[1]):
        state[:] = begun
        used = 0
        size = len(start)
        for i in range(64 * whole, len(start)):
            block[used] = start[i]
            used += 1
        for column in range(codes.shape[0]):
            place = firsts[column] + codes[column, j]
            size += bounds[place + 1] - bounds[place]
            for i in range(bounds[place], bounds[place + 1]):
                block[used] = texts[i]
                used += 1
                if used == 64:
                    _compress(state, block, words, rounds)
                    used = 0
        block[used] = 0x80
        block[used + 1 :] = 0
        if used >= 56:
            _compress(state, block, words, rounds)
            block[:] = 0
        bits = np.uint64(8 * size)
        for i in range(8):
            block[63 - i] = np.uint8((bits >> np.uint64(8 * i)) & np.uint64(255))
        _compress(state, block, words, rounds)
        out[j] = (np.uint64(state[0]) << np.uint64(32)) | np.uint64(state[1])


def hash_combinations(
    start: bytes, texts: Sequence[Sequence[bytes]], codes: Sequence[Ints]
) -> Ints:
    """The 64-bit hash of each combination, given each column's codes and the texts of codes."""
    flat = [text for column in texts for text in column]
    bounds = np.concatenate([[0], np.cumsum([len(text) for text in flat])]).astype(np.int64)
    firsts = np.cumsum([0, *map(len, texts)])[:-1].astype(np.int64)
    letters = np.frombuffer(b"".join(flat), dtype=np.uint8)
    out = np.empty(len(codes[0]), dtype=np.uint64)
    constants = np.concatenate([ROUNDS, START])
    for begin in range(0, len(out), TOGETHER):
        part = slice(begin, begin + TOGETHER)
        block = np.stack([column[part].astype(np.int64) for column in codes])
        _hash_all(
            np.frombuffer(start, np.uint8), letters, bounds, firsts, block, constants, out[part]
        )
    return out
