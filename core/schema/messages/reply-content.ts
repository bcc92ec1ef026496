/** What replies in conversations may say besides. No request has it: providers' ids of messages are the service's. */
export type ReplyContent = {
  /** Of mails: the Message-IDs of that which is answered, and of those before it, without brackets. */
  email_reply?: { in_reply_to: string; references: readonly string[] };
  /** Files that a mail is sent with, by their addresses. */
  email_files?: readonly EmailFile[];
  whatsapp_reply?: {
    /** Meta's id of the message that is answered. */
    context?: string;
    location?: { latitude: number; longitude: number; name?: string | undefined; address?: string | undefined };
    /** An emoji on a message, by Meta's id of that; "" takes it back. */
    reaction?: { message_id: string; emoji: string };
  };
};

export type EmailFile = { url: string; filename?: string | undefined };
