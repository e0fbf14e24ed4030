"""Local recoding: records of one value may get different labels, so that classes stay small."""
