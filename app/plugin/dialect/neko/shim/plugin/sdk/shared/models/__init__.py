"""Results."""

from conclave_neko.answers import Err, Ok, Result, unwrap, unwrap_or

__all__ = ["Err", "Ok", "Result", "unwrap", "unwrap_or"]
