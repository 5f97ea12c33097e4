"""One file that carries program and knowledge to a host without a network: make, verify, install, run."""
