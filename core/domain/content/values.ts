import type { Content } from "../../schema/messages/notification.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import type { Person } from "../people/person.ts";

/** What a template reads for one recipient. Source: docs/reference/templates.md#values. */
export const templateValues = ({
  user,
  subscription,
  app,
  content,
}: {
  user: Person | null;
  subscription: { _id: string; channel: Channel; language: string | null } | null;
  app: { _id: string; name: string };
  content: Content;
}): Record<string, unknown> => ({
  user: user === null ? {} : userValue(user),
  subscription:
    subscription === null
      ? {}
      : { id: subscription._id, channel: subscription.channel, language: subscription.language },
  app: { id: app._id, name: app.name },
  custom_data: content.custom_data ?? {},
});

const userValue = ({ _id: id, time_zone: timezone, ...user }: Person) => ({
  id,
  external_id: user.external_id,
  aliases: user.aliases,
  tags: user.tags,
  properties: user.properties,
  language: user.language,
  country: user.country,
  timezone,
});
