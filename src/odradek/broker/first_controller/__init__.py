"""The controller the shell runs on until the one in `controller/` is finished."""
