"""N.E.K.O's channels between processes, which Conclave does not have."""
