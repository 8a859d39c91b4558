"""What people's answers suggest for a policy. Nothing here changes one."""
