"""`sievert sketch`: a sample of classes in a small file, and what it says."""
