"""The parts of which screens are made."""
