"""The terminal app: type, listen, record voices, keep takes."""

from __future__ import annotations

from . import model


def configure(parser) -> None:
    model.add_options(parser)
    parser.option("--debug", action="store_true", help="show the traceback of an error")


def run(args, console) -> int:
    import s2mlx_app

    s2mlx_app.run(model=args.model, tokenizer=args.tokenizer, compat=args.compat)
    return 0
