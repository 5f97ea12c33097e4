"""Keep the scene of a failure before a restart: outputs, logs and facts in one redacted archive."""
