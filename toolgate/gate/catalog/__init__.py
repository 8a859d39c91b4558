"""What programs do: one YAML file a family, one small compiled file a program."""
