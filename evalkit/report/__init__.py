"""Reports: one context, a Markdown page and a JSON twin of it."""
