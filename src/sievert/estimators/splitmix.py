"""SplitMix64 (Steele, Lea and Flood 2014): one random number for every step of a key."""

STEP = 0x9E3779B97F4A7C15
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB
LOW_BITS = (1 << 32) - 1
