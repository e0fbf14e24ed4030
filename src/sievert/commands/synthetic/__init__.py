"""`sievert synthetic`: attacks on tables that are not paired, against a control group."""
