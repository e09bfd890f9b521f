"""Kinds of cases for what text alone cannot decide, and for damage that reports success."""
