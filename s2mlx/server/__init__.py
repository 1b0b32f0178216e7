"""The speech server: OpenAI's text-to-speech API over HTTP, from the standard library alone.

    listener    the socket, a bounded number of connections, the end of it all
    handler     one connection: which request gets which answer
    incoming    bytes -> head and body of a request, against deadlines     outgoing    answers -> bytes
    access      who may ask: key, host, foreign web pages
    protocol    JSON -> SpeechRequest, and errors as OpenAI words them
    service     what the answers are: models, voices, speech, a bounded queue
    turns       who is next                                                ahead       what waits for a slow client
    voices      the name of a voice -> a voice for the model               sound       samples -> bytes of a format
    speech      chunks of the engine -> bytes, or events

It talks to the engine through the public API only.
"""
