"""A call turned into typed effects."""
