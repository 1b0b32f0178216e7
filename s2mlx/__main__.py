"""The command as a process: `python -m s2mlx` and the script `s2mlx`. Ctrl-C is quiet also while it still imports."""

import gc
import signal


def main() -> int:
    """The exit code."""
    try:
        from .cli.main import main as command

        return command()
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()  # the interpreter's end would search all of a model's objects for circles, which takes 0.3 s
        # Whoever interrupts the interpreter's own end gets just that, no traceback.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    raise SystemExit(main())
