"""Where evidence about sessions comes from: one file a source."""
