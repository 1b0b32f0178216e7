"""The app's screens and dialogs, and the parts of the larger ones."""
