"""`sievert report`: results of other commands on one page."""
