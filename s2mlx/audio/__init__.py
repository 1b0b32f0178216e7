"""Sound in and out: files, rates, levels, loudspeakers, microphones. No model code."""
