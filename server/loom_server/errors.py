"""The one error tree. Every error that leaves the service is one of these.

    LoomError
      InvalidInput            invalid_input      a field is wrong; `errors` names each path
        NotSupported          not_supported      a known field whose feature is not built
        TooLarge              too_large          a bound on size, length or nesting was passed
        InvalidJson           invalid_json       the body is not JSON, or holds a number of more than 64 bits
        InvalidRequest        invalid_request    the JSON is not a request
        UnsupportedMedia      unsupported_media  the body is of another kind than JSON
      NotFound                not_found          a path or a row that must exist does not
        UnknownOperation      unknown_operation  no operation has this name
      MethodNotAllowed        method_not_allowed the path is not served by this HTTP method
      Forbidden               forbidden          the caller may not do this
      Conflict                conflict           if_match_sha256 lost, or a key is ambiguous
        WriteContended        write_contended    other processes keep writing the same key
        MigrationEdited       migration_edited   an applied migration's text has changed
      ConfigError             config_error       a setting cannot be used
      RateLimited             rate_limited       too many calls run and wait already
      NotReady                not_ready          the service is starting or stopping
      DeadlineExceeded        deadline_exceeded  the time given was used up
      Cancelled               cancelled          the caller went away
      StoreError
        StoreUnavailable      store_unavailable  the engine cannot be reached or opened
          StoreLocked         store_locked       another process owns the data directory
          SchemaUnfit         schema_unfit       the data is of a newer Loom, or its migrations have a hole
        StatementFailed       statement_failed   the engine refused a statement
        ResourceExhausted     resource_exhausted a statement passed its memory or row cap, or the disk is full
      EmbedError              embed_error        the embedder failed or returned junk
        ModelMismatch         model_mismatch     the org's vectors are of another model
      SearchFailed            search_failed      every leg failed

`code` is stable, `retryable` says whether the same call may succeed later, and the
message says what to do. Messages never hold SQL, values of other rows or secrets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self


@dataclass(frozen=True, slots=True)
class FieldError:
    """One refused field: its dotted path in the request and the mend."""

    path: str
    message: str


class LoomError(Exception):
    """Base of all errors of the service.

    `http_status` and `rpc_code` are the one mapping to the wire; doors read them.
    """

    code: ClassVar[str] = "internal"
    category: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False
    http_status: ClassVar[int] = 500
    rpc_code: ClassVar[int] = -32603

    def __init__(
        self,
        message: str,
        *,
        errors: tuple[FieldError, ...] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.errors = errors
        self.retry_after_s = retry_after_s


class InvalidInput(LoomError):
    code, category, http_status, rpc_code = "invalid_input", "request", 422, -32602

    @classmethod
    def field(cls, path: str, message: str) -> Self:
        """An error about one field."""
        return cls(f"{path}: {message}", errors=(FieldError(path, message),))


class NotSupported(InvalidInput):
    code = "not_supported"
    http_status = 400


class TooLarge(InvalidInput):
    code = "too_large"
    http_status = 413


class InvalidJson(InvalidInput):
    code, http_status, rpc_code = "invalid_json", 400, -32700


class InvalidRequest(InvalidInput):
    code, http_status, rpc_code = "invalid_request", 400, -32600


class UnsupportedMedia(InvalidInput):
    code, http_status, rpc_code = "unsupported_media", 415, -32600


class NotFound(LoomError):
    code, category, http_status, rpc_code = "not_found", "request", 404, -32003


class UnknownOperation(NotFound):
    code, rpc_code = "unknown_operation", -32601


class MethodNotAllowed(LoomError):
    code, category, http_status, rpc_code = "method_not_allowed", "request", 405, -32600


class Forbidden(LoomError):
    code, category, http_status, rpc_code = "forbidden", "request", 403, -32002


class Conflict(LoomError):
    code, category, http_status, rpc_code = "conflict", "request", 409, -32004


class WriteContended(Conflict):
    code, retryable = "write_contended", True


class MigrationEdited(Conflict):
    code = "migration_edited"


class ConfigError(LoomError):
    code, category = "config_error", "configuration"


class RateLimited(LoomError):
    code, category, http_status, rpc_code = "rate_limited", "availability", 429, -32005
    retryable = True


class NotReady(LoomError):
    code, category, http_status, rpc_code = "not_ready", "availability", 503, -32008
    retryable = True


class DeadlineExceeded(LoomError):
    code, category, http_status, rpc_code = "deadline_exceeded", "availability", 504, -32006
    retryable = True


class Cancelled(LoomError):
    code, category, http_status, rpc_code = "cancelled", "availability", 503, -32006
    retryable = True


class StoreError(LoomError):
    category = "store"
    http_status, rpc_code = 503, -32007


class StoreUnavailable(StoreError):
    code, retryable = "store_unavailable", True


class StoreLocked(StoreUnavailable):
    code, retryable = "store_locked", False


class SchemaUnfit(StoreUnavailable):
    code, retryable = "schema_unfit", False


class StatementFailed(StoreError):
    code = "statement_failed"


class ResourceExhausted(StoreError):
    code, retryable = "resource_exhausted", True


class EmbedError(LoomError):
    code, category, http_status, rpc_code = "embed_error", "embedder", 503, -32007
    retryable = True


class ModelMismatch(EmbedError):
    code, retryable, http_status, rpc_code = "model_mismatch", False, 409, -32004


class SearchFailed(LoomError):
    code, category, http_status, rpc_code = "search_failed", "store", 503, -32007
    retryable = True
