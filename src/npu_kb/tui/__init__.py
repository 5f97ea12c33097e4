"""The screens in which a team browses its knowledge, reads a log beside its explanation, and records what it learnt."""
