"""`sievert attack`: attacks on a release."""
