"""The policy: rules over effects, compiled to one JSON file named by its digest."""
