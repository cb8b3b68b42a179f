"""What and how much changed between versions."""
