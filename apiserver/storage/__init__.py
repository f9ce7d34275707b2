"""Where objects are kept: the drivers (sqlite, etcd), what lies over them (codec, watch cache) and compaction."""
