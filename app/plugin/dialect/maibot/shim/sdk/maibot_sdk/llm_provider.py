"""The base of a source of models. Conclave has its own; these are never asked."""


class LLMProviderBase:
    """Answers one operation each; all of them are for the plugin to write."""

    async def get_response(self, request):
        raise NotImplementedError

    async def get_embedding(self, request):
        raise NotImplementedError

    async def get_audio_transcriptions(self, request):
        raise NotImplementedError

    async def dispatch(self, operation, request):
        handler = {
            "response": self.get_response,
            "embedding": self.get_embedding,
            "audio_transcription": self.get_audio_transcriptions,
        }.get(operation)
        if handler is None:
            raise ValueError("there is no operation %r" % (operation,))
        return await handler(request)
