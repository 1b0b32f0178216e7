"""The app's widgets, one a file; none knows the engine or a device."""
