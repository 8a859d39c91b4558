"""Command text turned into simple commands, every source byte accounted for."""
