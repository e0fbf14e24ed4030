"""`sievert measures`: every measure and every loss, and what it means."""
