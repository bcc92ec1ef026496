/** What the element says; `{}` stands for a number or a title. */
export const words = {
  inbox: "Inbox",
  unread: "{} unread",
  readAll: "Mark all as read",
  markRead: "Mark as read: {}",
  markUnread: "Mark as unread: {}",
  archive: "Archive: {}",
  more: "Show more",
  none: "There is nothing here.",
  problem: "The inbox could not be read.",
  again: "Try again",
  untitled: "Message",
};

export type Words = typeof words;

export const said = (text: string, what: string | number): string => text.replace("{}", () => `${what}`);
