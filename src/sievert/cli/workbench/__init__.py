"""The workbench in a browser, and its sessions run again without one."""
