"""Models, the hosts that offer them, their prices and abilities."""
