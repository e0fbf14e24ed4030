"""`sievert hierarchies`: a hierarchy for every quasi-identifier, with its reason."""
