/** What replies in conversations on WhatsApp may say besides. No request has it: Meta's ids of messages are the service's. */
export type ReplyContent = {
  whatsapp_reply?: {
    /** Meta's id of the message that is answered. */
    context?: string;
    location?: { latitude: number; longitude: number; name?: string | undefined; address?: string | undefined };
    /** An emoji on a message, by Meta's id of that; "" takes it back. */
    reaction?: { message_id: string; emoji: string };
  };
};
