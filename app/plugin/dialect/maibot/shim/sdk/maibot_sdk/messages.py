"""The messages of event handlers."""

from .types import ModifyFlag, Record

__all__ = ["MaiMessages", "MessageSegment", "ModifyFlag"]


class MessageSegment(Record):
    fields = {"type": "text", "data": dict}


class MaiMessages(Record):
    fields = {
        "message_segments": list,
        "plain_text": "",
        "llm_prompt": None,
        "llm_response_content": None,
        "llm_response_reasoning": None,
        "llm_response_model": None,
        "llm_response_tool_call": None,
        "stream_id": None,
        "is_group_message": False,
        "is_private_message": False,
        "message_base_info": dict,
        "additional_data": dict,
        "raw_message": "",
    }
