"""The speech server: OpenAI's text-to-speech API over HTTP, and Wyoming."""
