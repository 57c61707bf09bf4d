"""Who may do what: DescribeAcls (key 29), CreateAcls (key 30), DeleteAcls (key 31).

v1  prefixed patterns (KIP-290).
v2  flexible versions.
v3  users as resources (KIP-373).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Int8, Int16, Int32, Since, String, message


@message(versions=range(4), flexible=2)
class DescribeAclsRequest:
    resource_type_filter: Int8
    resource_name_filter: String | None
    pattern_type_filter: Annotated[Int8, Since(1)] = 3  # 3 literal, 4 prefixed, 1 any, 2 whatever matches
    principal_filter: String | None
    host_filter: String | None
    operation: Int8
    permission_type: Int8


@message
class AclDescription:
    principal: String
    host: String
    operation: Int8
    permission_type: Int8  # 2 deny, 3 allow


@message
class DescribeAclsResource:
    resource_type: Int8
    resource_name: String
    pattern_type: Annotated[Int8, Since(1)] = 3
    acls: tuple[AclDescription, ...]


@message(versions=range(4), flexible=2)
class DescribeAclsResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None
    resources: tuple[DescribeAclsResource, ...]


@message
class AclCreation:
    resource_type: Int8
    resource_name: String
    resource_pattern_type: Annotated[Int8, Since(1)] = 3
    principal: String
    host: String
    operation: Int8
    permission_type: Int8


@message(versions=range(4), flexible=2)
class CreateAclsRequest:
    creations: tuple[AclCreation, ...]


@message
class AclCreationResult:
    error_code: Int16
    error_message: String | None


@message(versions=range(4), flexible=2)
class CreateAclsResponse:
    throttle_time_ms: Int32 = 0
    results: tuple[AclCreationResult, ...]


@message
class DeleteAclsFilter:
    resource_type_filter: Int8
    resource_name_filter: String | None
    pattern_type_filter: Annotated[Int8, Since(1)] = 3
    principal_filter: String | None
    host_filter: String | None
    operation: Int8
    permission_type: Int8


@message(versions=range(4), flexible=2)
class DeleteAclsRequest:
    filters: tuple[DeleteAclsFilter, ...]


@message
class DeleteAclsMatchingAcl:
    error_code: Int16
    error_message: String | None
    resource_type: Int8
    resource_name: String
    pattern_type: Annotated[Int8, Since(1)] = 3
    principal: String
    host: String
    operation: Int8
    permission_type: Int8


@message
class DeleteAclsFilterResult:
    error_code: Int16
    error_message: String | None
    matching_acls: tuple[DeleteAclsMatchingAcl, ...]


@message(versions=range(4), flexible=2)
class DeleteAclsResponse:
    throttle_time_ms: Int32 = 0
    filter_results: tuple[DeleteAclsFilterResult, ...]
