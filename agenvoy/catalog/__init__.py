"""SQLite and nothing else: the connection, the schema, one module per table or pair of tables."""

from sqlite3 import Connection

from agenvoy.catalog.connection import Catalog

__all__ = ["Catalog", "Connection"]
