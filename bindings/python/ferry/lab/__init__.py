"""The laboratory: measures, pictures and a page about models that differ by their positional encoding
(python -m ferry.lab; the extra `lab` installs what it needs)."""
