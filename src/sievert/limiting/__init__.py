"""The best trade-off of real columns: alphabets, channels, and the records that are drawn."""
