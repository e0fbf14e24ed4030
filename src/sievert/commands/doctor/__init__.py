"""`sievert doctor`: what this installation is and can do."""
