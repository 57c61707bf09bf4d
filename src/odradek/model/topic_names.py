"""Which names a topic may have, and which two names are too much alike."""

from __future__ import annotations

import re

NAME_LENGTH_MAX = 249  # a partition's directory name, its suffix included, has to fit into 255 bytes
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
CLUSTER_METADATA = "__cluster_metadata"  # KRaft's; no topic of ours may be taken for it
INTERNAL = frozenset((CONSUMER_OFFSETS, TRANSACTION_STATE))


def complaint(name: str) -> str | None:
    """Why no topic can have this name, or None when one can."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > NAME_LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    if not _LEGAL.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def is_internal(name: str) -> bool:
    """Does the broker keep its own records there?"""
    return name in INTERNAL


def metric_name(name: str) -> str:
    """The name that metrics use, where a dot is an underscore; topics must differ in it."""
    return name.replace(".", "_")


def collide(one: str, other: str) -> bool:
    return metric_name(one) == metric_name(other)
