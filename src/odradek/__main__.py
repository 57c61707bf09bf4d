"""`python -m odradek`: the command line. Refuses to run under -O, because asserts are part of the product."""

import sys

from odradek.cli.main import main

if __name__ == "__main__":
    if not __debug__:
        sys.exit(
            "odradek: do not run under python -O: its assertions stop a broken broker before it breaks data"
        )
    main()
