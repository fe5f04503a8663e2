"""What builds, checks and serves this repository; nothing here is installed."""
