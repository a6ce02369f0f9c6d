"""The gateway function: the web application, how it is put together, and how it runs on Lambda."""
