"""The tool behind `headrace catalog`: builds the shipped catalog from dated sources, and checks catalogs."""
