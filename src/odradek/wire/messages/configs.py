"""Settings of topics, brokers and clients.

DescribeConfigs (key 32)
  v1  sources and synonyms (KIP-226).         v3  types and documentation (KIP-569).
  v4  flexible versions.

AlterConfigs (key 33): all of a resource's settings at once.
  v2  flexible versions.

IncrementalAlterConfigs (key 44): some of them (KIP-339).
  v1  flexible versions.

ListConfigResources (key 74): which resources have settings.
  v0  only the subscriptions to client metrics (KIP-714).
  v1  any type (KIP-1142).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int8, Int16, Int32, Since, String, Until, message


@message
class DescribeConfigsResource:
    resource_type: Int8  # 2 topic, 4 broker, 8 logger, 16 client metrics, 32 group
    resource_name: String
    configuration_keys: tuple[String, ...] | None  # null: all of them


@message(versions=range(5), flexible=4)
class DescribeConfigsRequest:
    resources: tuple[DescribeConfigsResource, ...]
    include_synonyms: Annotated[Bool, Since(1)] = False
    include_documentation: Annotated[Bool, Since(3)] = False


@message
class ConfigSynonym:
    name: String
    value: String | None
    source: Int8


@message
class DescribedConfig:
    name: String
    value: String | None
    read_only: Bool
    is_default: Annotated[Bool, Until(0)] = False
    # 1 topic, 2 dynamic broker, 3 dynamic default, 4 static, 5 default
    config_source: Annotated[Int8, Since(1)] = -1
    is_sensitive: Bool
    synonyms: Annotated[tuple[ConfigSynonym, ...], Since(1)] = ()
    config_type: Annotated[Int8, Since(3)] = 0
    documentation: Annotated[String | None, Since(3)] = ""


@message
class DescribeConfigsResult:
    error_code: Int16
    error_message: String | None
    resource_type: Int8
    resource_name: String
    configs: tuple[DescribedConfig, ...]


@message(versions=range(5), flexible=4)
class DescribeConfigsResponse:
    throttle_time_ms: Int32 = 0
    results: tuple[DescribeConfigsResult, ...]


@message
class AlterableConfig:
    name: String
    value: String | None


@message
class AlterConfigsResource:
    resource_type: Int8
    resource_name: String
    configs: tuple[AlterableConfig, ...]


@message(versions=range(3), flexible=2)
class AlterConfigsRequest:
    resources: tuple[AlterConfigsResource, ...]
    validate_only: Bool


@message
class AlterConfigsResourceResponse:
    error_code: Int16
    error_message: String | None
    resource_type: Int8
    resource_name: String


@message(versions=range(3), flexible=2)
class AlterConfigsResponse:
    throttle_time_ms: Int32 = 0
    responses: tuple[AlterConfigsResourceResponse, ...]


@message
class IncrementalAlterableConfig:
    name: String
    config_operation: Int8  # 0 set, 1 delete, 2 append, 3 subtract
    value: String | None


@message
class IncrementalAlterConfigsResource:
    resource_type: Int8
    resource_name: String
    configs: tuple[IncrementalAlterableConfig, ...]


@message(versions=range(2), flexible=1)
class IncrementalAlterConfigsRequest:
    resources: tuple[IncrementalAlterConfigsResource, ...]
    validate_only: Bool


@message(versions=range(2), flexible=1)
class IncrementalAlterConfigsResponse:
    throttle_time_ms: Int32 = 0
    responses: tuple[AlterConfigsResourceResponse, ...]


@message(versions=range(2), flexible=0)
class ListConfigResourcesRequest:
    resource_types: Annotated[tuple[Int8, ...], Since(1)] = ()  # empty: all


@message
class ConfigResource:
    resource_name: String
    resource_type: Annotated[Int8, Since(1)] = 16


@message(versions=range(2), flexible=0)
class ListConfigResourcesResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    config_resources: tuple[ConfigResource, ...]
