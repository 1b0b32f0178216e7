"""The app's widgets, one a file. Each knows its own picture and messages; none knows the engine or a device."""
