"""The znodes of security: who may do what, and delegation tokens. Path, writing and reading of each.

Credentials and quotas are configurations of users, clients and addresses: see `ConfigZnode`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from odradek.coordination.json import BadZnode, Fields, JsonToWrite, write

RESOURCE_TYPES = ("Topic", "Group", "Cluster", "TransactionalId", "DelegationToken", "User")
LITERAL, PREFIXED = "LITERAL", "PREFIXED"

PERSISTENT = (
    *("/kafka-acl", *(f"/kafka-acl/{each}" for each in RESOURCE_TYPES), "/kafka-acl-changes"),
    *("/kafka-acl-extended", "/kafka-acl-extended/prefixed"),
    *(f"/kafka-acl-extended/prefixed/{each}" for each in RESOURCE_TYPES),
    "/kafka-acl-extended-changes",
)


class AclEntry(NamedTuple):
    """In the words of the znode: `User:alice`, `Allow` or `Deny`, `*` or an address, `Read`."""

    principal: str
    permission: str
    host: str
    operation: str


@dataclass(frozen=True, slots=True)
class AclZnode:
    """What everybody may do with one resource, or with all whose name begins so."""

    entries: tuple[AclEntry, ...]

    @staticmethod
    def path(resource_type: str, name: str, pattern: str = LITERAL) -> str:
        if pattern == LITERAL:
            return f"/kafka-acl/{resource_type}/{name}"
        return f"/kafka-acl-extended/{pattern.lower()}/{resource_type}/{name}"

    def encode(self) -> bytes:
        acls: list[JsonToWrite] = [
            {
                "principal": each.principal,
                "permissionType": each.permission,
                "host": each.host,
                "operation": each.operation,
            }
            for each in self.entries
        ]
        return write({"acls": acls, "version": 1})

    @staticmethod
    def decode(path: str, data: bytes) -> AclZnode:
        return AclZnode(
            tuple(
                AclEntry(
                    each.text("principal"),
                    each.text("permissionType"),
                    each.text("host"),
                    each.text("operation"),
                )
                for each in Fields.of(path, data).each("acls")
            )
        )


@dataclass(frozen=True, slots=True)
class AclChangeZnode:
    """Somebody changed what may be done with this resource. Literal names are told in an older form."""

    resource_type: str  # in capitals: TOPIC
    name: str
    pattern: str = LITERAL

    def prefix(self) -> str:
        return f"/kafka-acl-{'' if self.pattern == LITERAL else 'extended-'}changes/acl_changes_"

    def encode(self) -> bytes:
        if self.pattern == LITERAL:
            return f"{self.resource_type}:{self.name}".encode()
        return write(
            {
                "version": 1,
                "resourceType": self.resource_type,
                "name": self.name,
                "patternType": self.pattern,
            }
        )

    @staticmethod
    def decode(path: str, data: bytes) -> AclChangeZnode:
        if path.startswith("/kafka-acl-extended-changes/"):
            fields = Fields.of(path, data)
            return AclChangeZnode(
                fields.text("resourceType"), fields.text("name"), fields.text("patternType")
            )
        resource_type, colon, name = data.decode(errors="replace").partition(":")
        if not colon:
            raise BadZnode(path, f"should be TYPE:name, is {data!r:.100}")
        return AclChangeZnode(resource_type, name)


@dataclass(frozen=True, slots=True)
class TokenZnode:
    """A delegation token; what is secret of it is computed from the brokers' own secret."""

    id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issued_ms: int
    expires_ms: int
    latest_ms: int  # beyond which it cannot be renewed

    @staticmethod
    def path(id: str) -> str:
        return f"/delegation_token/tokens/{id}"

    def encode(self) -> bytes:
        return write(
            {
                "version": 3,
                "owner": self.owner,
                "tokenRequester": self.requester,
                "renewers": self.renewers,
                "issueTimestamp": self.issued_ms,
                "maxTimestamp": self.latest_ms,
                "expiryTimestamp": self.expires_ms,
                "tokenId": self.id,
            }
        )

    @staticmethod
    def decode(path: str, data: bytes) -> TokenZnode:
        fields = Fields.of(path, data)
        owner = fields.text("owner")
        return TokenZnode(
            fields.text("tokenId"),
            owner,
            fields.optional_text("tokenRequester") or owner,
            fields.texts("renewers"),
            fields.integer("issueTimestamp"),
            fields.integer("expiryTimestamp"),
            fields.integer("maxTimestamp"),
        )
