"""How much a user or client may: DescribeClientQuotas (key 48), AlterClientQuotas (key 49); KIP-546.

v1  flexible versions.
"""

from __future__ import annotations

from odradek.wire.schema import Bool, Float64, Int8, Int16, Int32, String, message


@message
class QuotaFilter:
    entity_type: String
    match_type: Int8  # 0 this name, 1 the default, 2 any
    match: String | None  # null unless this name


@message(versions=range(2), flexible=1)
class DescribeClientQuotasRequest:
    components: tuple[QuotaFilter, ...]
    strict: Bool  # no entity types but these


@message
class QuotaEntity:
    entity_type: String
    entity_name: String | None  # null: the default


@message
class QuotaValue:
    key: String
    value: Float64


@message
class DescribedQuota:
    entity: tuple[QuotaEntity, ...]
    values: tuple[QuotaValue, ...]


@message(versions=range(2), flexible=1)
class DescribeClientQuotasResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None
    entries: tuple[DescribedQuota, ...] | None


@message
class QuotaOperation:
    key: String
    value: Float64
    remove: Bool


@message
class QuotaAlteration:
    entity: tuple[QuotaEntity, ...]
    ops: tuple[QuotaOperation, ...]


@message(versions=range(2), flexible=1)
class AlterClientQuotasRequest:
    entries: tuple[QuotaAlteration, ...]
    validate_only: Bool


@message
class AlteredQuota:
    error_code: Int16
    error_message: String | None
    entity: tuple[QuotaEntity, ...]


@message(versions=range(2), flexible=1)
class AlterClientQuotasResponse:
    throttle_time_ms: Int32 = 0
    entries: tuple[AlteredQuota, ...]
