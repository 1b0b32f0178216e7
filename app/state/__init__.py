"""What the app keeps on disk."""
