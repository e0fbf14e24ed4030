"""An engine of our own, no file format: compiled counting of keys packed from records' values."""
