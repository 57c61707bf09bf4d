"""Users that log in by SCRAM: which credentials they have; given, and taken away."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from odradek.client.cluster import ANYONE, CONTROLLER
from odradek.client.failures import check
from odradek.model.errors import ErrorCode
from odradek.wire.messages.sasl import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    DescribedScramUser,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
    UserName,
)

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster
    from odradek.runtime.entropy import Entropy

ITERATIONS_MIN = 4096
_SALT_SIZE = 32


class Mechanism(Enum):
    """The number is the one on the wire."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def text(self) -> str:
        return self.name.replace("_", "-")


class Credential(NamedTuple):
    """What a user is to prove that it knows. The password itself never leaves."""

    mechanism: Mechanism
    iterations: int
    salt: bytes
    salted_password: bytes

    @staticmethod
    def of(mechanism: Mechanism, password: str, iterations: int, entropy: Entropy) -> Credential:
        salt = entropy.random_bytes(_SALT_SIZE)
        algorithm = mechanism.text.removeprefix("SCRAM-").replace("-", "").lower()
        salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, iterations)
        return Credential(mechanism, iterations, salt, salted)


async def scram_users(cluster: Cluster, names: Sequence[str] | None = None) -> tuple[DescribedScramUser, ...]:
    """Of these users, or of all, those that have a credential."""
    users = None if names is None else tuple(UserName(name=each) for each in names)

    async def attempt() -> tuple[DescribedScramUser, ...]:
        request = DescribeUserScramCredentialsRequest(users=users)
        answer = await cluster.ask(ANYONE, request, DescribeUserScramCredentialsResponse)
        check(answer.error_code, answer.error_message, asked="users")
        found = []
        for each in answer.results:
            if ErrorCode.of(each.error_code) is not ErrorCode.RESOURCE_NOT_FOUND:
                check(each.error_code, each.error_message, asked=f"user {each.user}")
                found.append(each)
        return tuple(found)

    return await cluster.one("users", attempt)


async def alter_scram_user(
    cluster: Cluster, name: str, given: Sequence[Credential], taken: Sequence[Mechanism] = ()
) -> None:
    request = AlterUserScramCredentialsRequest(
        deletions=tuple(ScramCredentialDeletion(name=name, mechanism=each.value) for each in taken),
        upsertions=tuple(
            ScramCredentialUpsertion(
                name=name,
                mechanism=each.mechanism.value,
                iterations=each.iterations,
                salt=each.salt,
                salted_password=each.salted_password,
            )
            for each in given
        ),
    )

    async def attempt() -> None:
        answer = await cluster.ask(CONTROLLER, request, AlterUserScramCredentialsResponse)
        for each in answer.results:
            check(each.error_code, each.error_message, asked=f"credentials of user {each.user}")

    await cluster.one(f"credentials of user {name}", attempt)
