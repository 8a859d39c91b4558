"""What the user asked for, and what it means for a call."""
