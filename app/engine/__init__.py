"""The model, the devices and the voices, as the app uses them."""
