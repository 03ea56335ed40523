"""What is checked before a release: `make check-release` and `make sbom` (docs/releasing.md)."""
