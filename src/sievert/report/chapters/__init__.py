"""The chapters of a report: what each kind of result has to say, one file a kind."""
