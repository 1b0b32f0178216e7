"""From a script to sound that is heard."""
