"""From the microphone to a take."""
