"""Values by name, each asked for as what it is; to ask for a number where there is a word is a bug."""

from __future__ import annotations

from odradek.model.config.values import Password, Value


class TypedValues:
    """Whoever knows the value of a setting; those who may have none are asked with `optional_`."""

    __slots__ = ()

    def value(self, name: str) -> Value:
        raise NotImplementedError

    def boolean(self, name: str) -> bool:
        value = self.value(name)
        assert isinstance(value, bool), name
        return value

    def integer(self, name: str) -> int:
        value = self.optional_integer(name)
        assert value is not None, name
        return value

    def optional_integer(self, name: str) -> int | None:
        value = self.value(name)
        assert value is None or (isinstance(value, int) and not isinstance(value, bool)), name
        return value

    def double(self, name: str) -> float:
        value = self.value(name)
        assert isinstance(value, float), name
        return value

    def string(self, name: str) -> str:
        value = self.optional_string(name)
        assert value is not None, name
        return value

    def optional_string(self, name: str) -> str | None:
        value = self.value(name)
        assert value is None or isinstance(value, str), name
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """A list; none where it is not set."""
        value = self.value(name)
        assert value is None or isinstance(value, tuple), name
        return value or ()

    def secret(self, name: str) -> str | None:
        value = self.value(name)
        assert value is None or isinstance(value, Password), name
        return None if value is None else value.secret
