"""What the tools of the stack and of the host print: a module for each, imported only when a log holds its words."""
