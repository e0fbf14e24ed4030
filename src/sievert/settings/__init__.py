"""Settings of commands: options as fields, and the groups that several commands share."""
