"""Parts of the SDK that plugins were seen to import by their own paths."""
