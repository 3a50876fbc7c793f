"""SQLite and nothing else: the connection, the schema, one module per table or pair of tables."""

from agenvoy.catalog.connection import Catalog

__all__ = ["Catalog"]
