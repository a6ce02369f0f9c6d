"""Who calls: the format of keys, and a memory in front of the directory that knows them."""
